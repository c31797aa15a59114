/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A D clause has seen what the log was kept for: logstop(). The log goes on; whoever has the
 * buffers hears of it through _NTO_HOOK_TRACE at this CPU's next exit from the kernel, behind the
 * event that the clause was on, is told more by QUERYOWNER, and stops the log now or later. The
 * first one between START and STOP counts. Proof: test/unit/test_gate.c, test/boot/gate.py.
 */
#ifndef TRACE_TRIGGER_H
#define TRACE_TRIGGER_H

#include <stdbool.h>

struct trace_cpu;

/* Any context. While tracing doesn't run on this CPU: nothing. */
void trace_trigger(void);
/* ALLOCBUFFER and START: there was none yet. Kernel lock. */
void trace_trigger_reset(void);
/* This CPU's exit from the kernel: whether the hook must be raised for what fired here,
 * true once. */
bool trace_trigger_tell(const struct trace_cpu *);
bool trace_trigger_fired(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logstop(): a D clause has seen the event for which the log was kept. The log continues. The
 * buffers' owner is notified through _NTO_HOOK_TRACE at this CPU's next exit from the kernel, after
 * the event that the clause was on, gets details from QUERYOWNER, and stops the log then or later.
 * Only the first logstop() between START and STOP counts. Proof: test/trace/gate_test.c,
 * test/board/gate.py.
 */
#ifndef TRACE_TRIGGER_H
#define TRACE_TRIGGER_H

#include <stdbool.h>

struct trace_cpu;

/* Any context. Does nothing while tracing is off on this CPU. */
void trace_trigger(void);
/* ALLOCBUFFER and START: forgets an earlier trigger. Kernel lock. */
void trace_trigger_reset(void);
/* At this CPU's exit from the kernel: returns whether the hook must be raised for a trigger on this
 * CPU; true once. */
bool trace_trigger_tell(const struct trace_cpu *);
bool trace_trigger_fired(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logstop() of a D clause: the event that the log was kept for has happened. The log continues. The
 * buffers' owner is notified through _NTO_HOOK_TRACE at this CPU's next exit from the kernel, after
 * the event that fired the clause; it gets details from QUERYOWNER, and stops the log then or
 * later. Only the first logstop() between START and STOP counts. Tested by test/trace/gate_test.c,
 * test/board/gate.py.
 */
#ifndef TRACE_TRIGGER_H
#define TRACE_TRIGGER_H

#include <stdbool.h>

struct trace_cpu;

/* Triggers the log. Any context. Does nothing while tracing is off on this CPU. */
void trace_trigger(void);
/* Forgets an earlier trigger: for ALLOCBUFFER and START. Kernel lock. */
void trace_trigger_reset(void);
/* Called at this CPU's exit from the kernel: returns whether the hook must be raised for a trigger
 * on this CPU; true once. */
bool trace_trigger_take(const struct trace_cpu *);
bool trace_trigger_fired(void);

#endif

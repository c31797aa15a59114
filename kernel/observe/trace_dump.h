/* SPDX-License-Identifier: BSD-2-Clause */
/* The state dump, shared by trace_calls.c, trace_dump.c, trace_port.c and thread_end.c. Lock
 * held. */
#ifndef KERNEL_OBSERVE_TRACE_DUMP_H
#define KERNEL_OBSERVE_TRACE_DUMP_H

#include "kernel/proc/process.h"

/* Turns the caller's TRACE_EVENT into a dump; then_stop: calls trace_stop_now() at its end. */
long trace_dump_begin(struct thread *self, bool then_stop);
/* Dumps the next part, for a call whose step is not 0. */
long trace_dump_go_on(struct thread *self);
/* There may be room, or tracing may have stopped: wakes a waiting dump. */
void trace_dump_wake(void);
extern const struct wait_kind trace_dump_wait; /* WAITCTX */
/* trace_calls.c: a process ends: its ownership of the trace, and what a dump waited for. */
void trace_process_gone(struct process *proc);

#endif

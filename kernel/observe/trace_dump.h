/* SPDX-License-Identifier: BSD-2-Clause */
/* The state dump: between trace_calls.c, trace_dump.c and trace_port.c. Lock held. */
#ifndef KERNEL_OBSERVE_TRACE_DUMP_H
#define KERNEL_OBSERVE_TRACE_DUMP_H

#include "kernel/proc/process.h"

/* Makes the caller's TRACE_EVENT go on as a dump; then_stop: trace_stop_now() at its end. */
long trace_dump_begin(struct thread *self, bool then_stop);
/* The next part, for a call whose step is not 0. */
long trace_dump_go_on(struct thread *self);
/* There may be room, or tracing may have stopped: a dump that waits looks again. */
void trace_dump_wake(void);
extern const struct wait_kind trace_dump_wait; /* WAITCTX */
/* trace_calls.c: a process ends: its ownership of the trace, and what a dump waited for. */
void trace_process_gone(struct process *proc);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's entry and exit paths, as other rooms use them. The TRACE_EV_kercall_* macros, the
 * cold parts of the KERCALL events' sites, are implemented in kercall_trace.c.
 */
#ifndef KERNEL_ENTRY_ENTRY_H
#define KERNEL_ENTRY_ENTRY_H

#include "kernel/thread/thread.h"
#include "trace/hook.h"

void kercall_trace_enter(struct thread *self);
/* Traces the exit of self's call as self returns to user mode. Does nothing if self is in no
 * call. */
void kercall_trace_exit(struct thread *self);
void kercall_trace_int(struct thread *self);
/* Traces that t's call ends without having completed: by a timeout, by a cancellation or, right
 * after t's THDEAD event, by t's own end. Does nothing if t is in no call or this event is off. */
void kercall_trace_aborted(struct thread *t);

/* Records the INT event of a long call (KER_AGAIN) whose thread loses the CPU at a preemption
 * point. t is RUNNING on this CPU and about to become READY, so the event is still attributed to
 * it. */
static inline void kercall_trace_preempted(struct thread *t)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_int)) {
        if ((t->flags & (THREAD_AGAIN | THREAD_ABORTED)) == THREAD_AGAIN) {
            kercall_trace_int(t);
        }
    }
}

/* Chooses whether MsgSendv, MsgReceivev, MsgReplyv (msg_direct.c) and TraceEvent (trace_quick.c)
 * try the fast path first, which they do unless function probes are enabled: the fast path calls
 * none of the general path's functions. Kernel lock held. */
void kercall_use_direct(bool on);

#endif

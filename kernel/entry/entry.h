/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What other rooms need of the ways in and out. KERCALL events: cold parts of their sites
 * (TRACE_EV_kercall_*), in kercall_trace.c.
 */
#ifndef KERNEL_ENTRY_ENTRY_H
#define KERNEL_ENTRY_ENTRY_H

#include "kernel/thread/thread.h"
#include "trace/hook.h"

void kercall_trace_enter(struct thread *self);
/* The thread returns to user mode: traces the exit of its call. Does nothing if it was in no
 * call. */
void kercall_trace_exit(struct thread *self);
void kercall_trace_int(struct thread *self);
/* Its call ends without having done what it was for: a timeout, a cancellation, or, just behind its
 * THDEAD event, its own end. Does nothing if it is in no call or this event is off. */
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
 * try the fast path first, as they do unless function probes are enabled: the fast path runs none
 * of the general path's functions. Kernel lock held. */
void kercall_use_direct(bool on);

#endif

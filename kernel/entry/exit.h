/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel exit paths, shared by kercall.c, exit.c, fault.c and main.c. */
#ifndef KERNEL_ENTRY_EXIT_H
#define KERNEL_ENTRY_EXIT_H

#include "kernel/base/cpu.h"
#include "kernel/entry/entry.h"
#include "kernel/base/kercall.h"
#include "kernel/thread/thread.h"

/* Returns the thread that this CPU is about to resume, after the check of a debug image that it may
 * leave the kernel. Without the lock. */
static inline struct thread *exit_to(struct thread *next)
{
    kernel_assert(kernel_may_leave());
    return next;
}

/* Does all pending work of this CPU, idles if no thread is ready, releases the lock and returns the
 * thread to resume. Lock held. */
struct thread *exit_locked(struct cpu *cpu);
/* Like exit_locked(), for a caller whose sched_switch() found no thread: idles first. */
struct thread *exit_idle_first(struct cpu *cpu);

/* Handles a handler's return value that is not a result (KER_*). Lock held. */
void kercall_special(struct thread *self, long result);
/* Executes self's call of this number through its handler, releases the lock and returns the thread
 * to resume. Lock held. */
struct thread *kercall_held(struct thread *self, unsigned number);
/* Like kercall_held(), for a call that reads structures: uses them as its event has read them
 * (kernel/mem/mem.h). */
struct thread *kercall_held_reading(struct thread *self, unsigned number);
/* Like kercall_held(), called without the lock. */
struct thread *kercall_locked(struct thread *self, unsigned number);
/* The general path of a NOLOCK call whose fast path met a case that it doesn't handle. The lock is
 * held or free as for a NOLOCK handler. */
struct thread *kercall_general(struct thread *self, unsigned number);
/* Leaves a call whose handler blocked self: releases the lock and returns the thread to resume,
 * after this CPU's pending work if there is any. Lock held. */
struct thread *kercall_blocked(struct thread *self);
/* Like kercall_blocked(), for a handler that neither blocked nor has more to do. result, or a
 * negative errno, is not below KER_BLOCKED. Lock held. */
struct thread *kercall_done(struct thread *self, long result);
/* Both end a call that needed no lock and has its result, and return the thread to resume. They are
 * separate functions because they make calls: the first if the exit's event is on, the second if
 * work is pending. */
struct thread *kercall_leave_traced(struct thread *self);
struct thread *kercall_leave_working(void);
/* Calls the handler of self->call. Lock held. */
long kercall_invoke(struct thread *self);
/* Continues to end a process after a fault. For a thread with THREAD_AGAIN that is in no call. Lock
 * held. (fault.c) */
long fault_continue(struct thread *self);
/* Sets the result of a handler that neither blocked nor has more to do. */
static inline void kercall_finish(struct thread *self, long result)
{
    if (result < 0) {
        thread_result(self, -1, (int)-result);
    } else {
        thread_result(self, result, 0);
    }
}

/* Resumes self, whose call has its result and needed no lock, if no work is pending on this CPU. */
static inline struct thread *kercall_leave_unlocked(struct thread *self)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_exit)) {
        return kercall_leave_traced(self);
    }
    return unlikely(trace_port_cpu()->exit_work) ? kercall_leave_working() : self;
}

#endif

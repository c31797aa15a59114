/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holding threads: ThreadCtl(_NTO_TCTL_ONE_THREAD_HOLD) and related commands. Kernel lock held.
 *
 * A held thread keeps everything it has: its mutexes, its position in the queue where it waits, the
 * message that it serves, its inherited priority. The event it waits for may still occur: its
 * message is received and answered, its timeout expires, it gets the mutex. Only then does it stop,
 * and its call returns when it continues. The end of a thread or process doesn't wait for it. Nor
 * does a thread that needs a call_lock that it owns, because the hold waits until that is released.
 *
 * The state of a held thread is never READY, unless it owns a call_lock. So that a wake notices the
 * hold without a test on its fast path, TIMEOUT_STATE_HELD is in timeout_states while it waits: a
 * thread with a timeout leaves that path anyway. Tested by test/kernel (thread_test, hold_test,
 * long_call_test, random_test) and test/board's t_thread.
 */
#include "abi/errno.h"
#include "kernel/base/cpu.h"
#include "kernel/arch/cpu.h"
#include "kernel/proc/proc.h"
#include "kernel/thread/sched.h"

void thread_hold(struct thread *t)
{
    kernel_assert(kernel_locked());
    if ((t->flags & (THREAD_HELD | THREAD_DYING)) || t == t->proc->ender) {
        return;
    }
    t->flags |= THREAD_HELD;
    if (call_lock_owns(t)) {
        return;
    }
    if (t->state == STATE_READY) {
        sched_unready(t);
        thread_set_state(t, STATE_STOPPED);
        call_lock_pass_on(t);
        return;
    }
    if (t->state == STATE_RUNNING) {
        cpu_request(&cpus[t->cpu], WORK_RESCHED);
    }
    if (t->state != STATE_STOPPED) { /* it runs on another CPU, or waits */
        t->timeout_states |= TIMEOUT_STATE_HELD;
        t->plain = NULL; /* messages are not copied directly into its buffer */
    }
    call_lock_held(t);
}

long thread_hold_self(struct thread *self)
{
    kernel_assert(self == arch_cpu()->current && self->state == STATE_RUNNING);
    self->flags |= THREAD_HELD;
    timeout_unused(self);
    thread_result(self, 0, 0);
    thread_set_state(self, STATE_STOPPED);
    return KER_BLOCKED;
}

void thread_stop_here(struct thread *t)
{
    kernel_assert(kernel_locked());
    kernel_assert(t == arch_cpu()->current);
    if (!(t->flags & THREAD_HELD) || call_lock_owns(t)) {
        return;
    }
    if (t->state == STATE_RUNNING) {
        kercall_trace_preempted(t);
    } else if (t->state == STATE_READY) { /* it has yielded to a thread of its priority meanwhile */
        sched_unready(t);
    } else {
        return;
    }
    thread_set_state(t, STATE_STOPPED);
    call_lock_pass_on(t);
}

void thread_continue(struct thread *t)
{
    kernel_assert(kernel_locked());
    if (!(t->flags & THREAD_HELD)) {
        return;
    }
    t->flags &= (uint8_t)~THREAD_HELD;
    t->timeout_states &= ~TIMEOUT_STATE_HELD;
    if (t->state == STATE_STOPPED) {
        thread_set_state(t, STATE_READY);
        sched_ready(t);
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TimerTimeout(): a timeout for the next blocking call. time.h lists the callers.
 *
 * The timeout belongs to the next kernel call that can block: when the thread blocks in one of the
 * given states, its timer runs; when it is woken, or the call ends without blocking, the timeout is
 * removed. The only event is SIGEV_UNBLOCK (also meant by NULL): the call ends with ETIMEDOUT. With
 * a time of 0, no time (NULL), or an absolute one that has passed, the call doesn't block. With
 * _NTO_TIMEOUT_NANOSLEEP among the states TimerTimeout() itself blocks until then and returns
 * ETIMEDOUT, which implements sleep(). In REPLY on an _NTO_CHF_UNBLOCK channel the server is
 * notified instead, and replies at its discretion. In CONDVAR the thread locks its mutex again
 * first.
 *
 * Kernel lock held. Errors: unknown clocks, states and events (EINVAL), bad memory (EFAULT). Tested
 * by test/kernel.
 */
#include "abi/compiler.h"
#include "abi/errno.h"
#include "kernel/time/time.h"
#include "kernel/arch/irq.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"
#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"

static void timeout_fire(struct timer_node *node)
{
    struct thread *t = list_entry(node, struct thread, timeout);
    kernel_assert(thread_waits(t));
    bool aborts = t->state != STATE_NANOSLEEP; /* a sleep has ended normally */
    if (thread_cancel_wait(t, ETIMEDOUT) && aborts) {
        thread_aborted(t);
    }
}

void timeout_arm(struct thread *t, unsigned state)
{
    kernel_assert(kernel_locked());
    kernel_assert(t->state == state);
    if (t->timeout_states >> state & 1) {
        t->timeout.fire = timeout_fire;
        timer_node_start_for(&t->timeout, t->proc, t->priority, t->timeout_now ? 0 : t->timeout_at);
    }
}

void timeout_disarm(struct thread *t)
{
    kernel_assert(kernel_locked());
    t->timeout_states &= TIMEOUT_STATE_HELD;
    timer_node_stop(&t->timeout);
}

void timeout_moved(struct thread *t, unsigned state)
{
    kernel_assert(kernel_locked());
    if (!(t->timeout_states >> state & 1)) {
        timer_node_stop(&t->timeout);
    } else if (!timer_node_running(&t->timeout)) {
        timeout_arm(t, state);
    }
}

/* Reads the time that the call points to: usually near the message of the call that follows. */
static int timeout_time(const struct thread *self, uintptr_t addr, uint64_t *ns)
{
    const uint64_t *cached = vm_cache_ptr(&self->out_cache, addr);

    if (likely(cached && (addr & (sizeof(*ns) - 1)) == 0)) {
        *ns = *cached;
        return 0;
    }
    *ns = 0;
    return addr ? copy_in(self->proc, ns, addr, sizeof(*ns)) : 0;
}

/* Computes the absolute time in cycles. *now: it has already passed. */
static int timeout_when(const struct thread *self, const uintptr_t *args, uint64_t *at, bool *now)
{
    uint64_t ns;
    if (timeout_time(self, args[3], &ns) != 0) {
        return -EFAULT;
    }
    if (!((uint32_t)args[1] & TIMER_ABSTIME)) {
        *now = ns == 0;
        *at = clock_expiry_after(ns);
        return 0;
    }
    ns = args[0] == CLOCK_MONOTONIC ? ns : clock_monotonic_at(ns);
    *now = ns <= clock_now_ns();
    *at = clock_expiry(ns);
    return 0;
}

static int timeout_check(const struct thread *self, const uintptr_t *args)
{
    struct sigevent notify;
    uint32_t flags = (uint32_t)args[1];
    if (args[0] > CLOCK_MONOTONIC || (flags & ~(TIMEOUT_STATES | TIMER_ABSTIME))) {
        return -EINVAL;
    }
    if (!args[2]) {
        return 0;
    }
    if (copy_in(self->proc, &notify, args[2], sizeof(notify)) != 0) {
        return -EFAULT;
    }
    return notify.sigev_notify == SIGEV_UNBLOCK ? 0 : -EINVAL;
}

/* Returns the remaining time of a timeout that no call has used. */
static uint64_t timeout_left(const struct thread *self)
{
    uint64_t now = arch_cycles();
    if (self->timeout_states == 0 || self->timeout_now || self->timeout_at <= now) {
        return 0;
    }
    return clock_cycles_to_ns(self->timeout_at - now);
}

long ker_timer_timeout(struct thread *self, const uintptr_t *args)
{
    uint64_t at;
    bool now;
    int r = timeout_check(self, args);
    r = r == 0 ? timeout_when(self, args, &at, &now) : r;
    if (r == 0 && args[4]) {
        uint64_t old = timeout_left(self);
        r = copy_out(self->proc, args[4], &old, sizeof(old));
    }
    if (r != 0) {
        return r;
    }
    self->timeout_states = (uint32_t)args[1] & TIMEOUT_STATES;
    self->timeout_now = now;
    self->timeout_at = at;
    if (!(self->timeout_states & _NTO_TIMEOUT_NANOSLEEP)) {
        return 0;
    }
    long blocked = thread_block(self, STATE_NANOSLEEP);
    if (blocked != KER_BLOCKED) {
        timeout_unused(self);
    }
    return blocked;
}

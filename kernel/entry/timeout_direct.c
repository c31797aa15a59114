/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path of TimerTimeout() in its common form, which accompanies each message of a client
 * that limits its wait. Values read before the lock stay valid: see msg_direct.c. Any other form is
 * left to the slow path (kernel/time/timer_calls.c), of which nothing has been done. Tested by
 * test/kernel/entry/direct_test.c and window_test.c; counted by `make bench` (msg_rt_8_timeout).
 */
#include "kernel/entry/msg_direct.h"

#include "kernel/arch/cpu.h"
#include "kernel/entry/exit.h"
#include "kernel/entry/msg_steps.h"

/* Reads a call whose states include those of self's messages and whose time is relative, and which
 * asks for nothing else. Returns the end of the wait, or 0 for a call of another form. */
HELD uint64_t timeout_read(struct thread *self)
{
    const uintptr_t *args = self->args;
    const uint64_t *ns = vm_cache_ptr(&self->out_cache, args[3]);

    if (args[0] > CLOCK_MONOTONIC) {
        return 0; /* EINVAL */
    }
    if ((uint32_t)args[1] & ~(TIMEOUT_STATES & ~_NTO_TIMEOUT_NANOSLEEP)) {
        return 0; /* EINVAL, TIMER_ABSTIME; or the call itself sleeps */
    }
    if ((args[2] | args[4]) != 0) {
        return 0; /* an event; the remaining time of the previous timeout is wanted */
    }
    if (!ns || (args[3] & (sizeof(*ns) - 1))) {
        return 0; /* timeout_time() */
    }
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_exit)) {
        return 0; /* kercall_leave() */
    }
    if (CONFIG_CPUS > 1 && arch_cpu()->kept) {
        return 0; /* kercall_held_reading(), though the event may be off by now */
    }
    uint64_t limit = *(const volatile uint64_t *)ns; /* read once */
    return limit ? clock_expiry_after(limit) : 0;    /* 0: the next call does not block */
}

static __attribute__((noinline)) struct thread *timeout_other(struct thread *self, unsigned number)
{
    kernel_lock();
    return kercall_held_reading(self, number);
}

HELD void timeout_set(struct thread *self, uint64_t at)
{
    self->timeout_at = at;
    self->timeout_states = (uint32_t)self->args[1];
    self->timeout_now = false;
}

HELD struct thread *timeout_held(struct thread *self, uint64_t at, volatile uint32_t *lock)
{
    timeout_set(self, at);
    if (unlikely(arch_cpu()->trace.exit_work)) {
        return kercall_done(self, 0); /* self may be held, or is to end */
    }
    kernel_unlock_at(lock);
    arch_context_set_result(self, 0, 0);
    return self;
}

static __attribute__((noinline)) struct thread *timeout_waits(struct thread *self, uint64_t at)
{
    if (unlikely(!kernel_lock_undisturbed())) {
        timeout_set(self, at);
        return kercall_done(self, 0); /* the exit's event may have been switched on */
    }
    return timeout_held(self, at, kernel_lock_at());
}

struct thread *msg_direct_timeout(struct thread *self, unsigned number)
{
    uint64_t at = timeout_read(self);

    if (unlikely(at == 0)) {
        return timeout_other(self, number);
    }
    volatile uint32_t *lock = kernel_lock_at();
    return likely(kernel_lock_try_at(lock)) ? timeout_held(self, at, lock)
                                            : timeout_waits(self, at);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ClockTime, ClockAdjust, ClockPeriod, ClockId, ClockCycles.
 *
 * CLOCK_SOFTTIME is CLOCK_REALTIME. ClockId() returns clocks of CPU time, of a thread or of all
 * present threads of a process; they are read-only. ClockPeriod() returns the resolution of the
 * timers, one cycle; there is no tick to set. ClockAdjust() counts in ticks of 1 ms.
 *
 * Kernel lock held, except ClockCycles. Refuses unknown clocks (EINVAL), setting without
 * ABILITY_CLOCK (EPERM), setting a read-only clock (EINVAL; the period: ENOTSUP), bad memory
 * (EFAULT). Proved by test/unit_ipc.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/arch/irq.h"
#include "kernel/time/clock_impl.h"
#include "kernel/ipc/msg_impl.h"
#include "kernel/thread/sched.h"

/* Ids of CPU-time clocks: a flag, then a thread's rcvid-like handle or a pid. */
#define CLOCK_OF_THREAD 0x40000000u
#define CLOCK_OF_PROCESS 0x60000000u
#define CLOCK_KIND 0x60000000u
#define CLOCK_VALUE 0x1fffffffu

static uint64_t process_cycles(const struct process *proc)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        if (proc->threads[i]) {
            sum += sched_run_cycles(proc->threads[i]);
        }
    }
    return sum;
}

/* Returns 0, or -EINVAL: no such clock. */
static int read_clock(uint32_t id, uint64_t *ns)
{
    if (id == CLOCK_REALTIME || id == CLOCK_SOFTTIME) {
        *ns = clock_realtime_ns();
    } else if (id == CLOCK_MONOTONIC) {
        *ns = clock_now_ns();
    } else if ((id & ~CLOCK_VALUE) == CLOCK_OF_THREAD) {
        const struct thread *t = rcvid_thread(id & CLOCK_VALUE);
        *ns = t ? clock_cycles_to_ns(sched_run_cycles(t)) : 0;
        return t ? 0 : -EINVAL;
    } else if ((id & ~CLOCK_VALUE) == CLOCK_OF_PROCESS) {
        const struct process *proc = process_find((int)(id & CLOCK_VALUE));
        *ns = proc ? clock_cycles_to_ns(process_cycles(proc)) : 0;
        return proc ? 0 : -EINVAL;
    } else {
        return -EINVAL;
    }
    return 0;
}

/* Returns 0, or why this process can't set this clock. */
static int clock_calls_may_set(const struct process *proc, uint32_t id)
{
    if (id != CLOCK_REALTIME && id != CLOCK_SOFTTIME) {
        return -EINVAL;
    }
    return process_able(proc, ABILITY_CLOCK) ? 0 : -EPERM;
}

long ker_clock_time(struct thread *self, const uintptr_t *args)
{
    uint64_t old_ns, new_ns = 0;
    int r = read_clock((uint32_t)args[0], &old_ns);
    if (r == 0 && args[1]) {
        r = clock_calls_may_set(self->proc, (uint32_t)args[0]);
        r = r == 0 ? copy_in(self->proc, &new_ns, args[1], sizeof(new_ns)) : r;
    }
    if (r == 0 && args[2]) {
        r = copy_out(self->proc, args[2], &old_ns, sizeof(old_ns));
    }
    if (r == 0 && args[1]) {
        clock_realtime_set(new_ns);
    }
    return r;
}

long ker_clock_adjust(struct thread *self, const uintptr_t *args)
{
    struct _clockadjust change = {0, 0};
    struct clock_adjustment now;
    if (args[0] != CLOCK_REALTIME && args[0] != CLOCK_SOFTTIME) {
        return -EINVAL;
    }
    if (args[1]) {
        int r = clock_calls_may_set(self->proc, (uint32_t)args[0]);
        r = r == 0 ? copy_in(self->proc, &change, args[1], sizeof(change)) : r;
        if (r != 0) {
            return r;
        }
    }
    clock_adjustment_get(&now);
    const struct _clockadjust old = {now.ticks_left, now.ns_per_tick};
    if (args[2] && copy_out(self->proc, args[2], &old, sizeof(old)) != 0) {
        return -EFAULT;
    }
    if (args[1]) {
        clock_adjustment_set(change.tick_count, change.tick_nsec_inc);
    }
    return 0;
}

long ker_clock_period(struct thread *self, const uintptr_t *args)
{
    const struct _clockperiod period = {.nsec = (uint32_t)clock_cycles_to_ns(1)};
    if (args[0] != CLOCK_REALTIME && args[0] != CLOCK_SOFTTIME) {
        return -EINVAL;
    }
    if (args[1]) {
        return process_able(self->proc, ABILITY_CLOCK) ? -ENOTSUP : -EPERM;
    }
    return args[2] ? copy_out(self->proc, args[2], &period, sizeof(period)) : 0;
}

long ker_clock_id(struct thread *self, const uintptr_t *args)
{
    struct process *proc = process_self_or(self->proc, (int)args[0]);
    if (!proc) {
        return -ESRCH;
    }
    if ((int)args[1] == 0) {
        return (long)(CLOCK_OF_PROCESS | ((uint32_t)proc->pid & CLOCK_VALUE));
    }
    const struct thread *t = thread_find(proc, (int)args[1]);
    return t ? (long)(CLOCK_OF_THREAD | (uint32_t)t->rcvid) : -ESRCH;
}

/* Runs without the lock: vm_user_ptr() allows that for the caller's own memory. */
long ker_clock_cycles(struct thread *self, const uintptr_t *args)
{
    uint64_t *out = vm_user_ptr(self->proc, args[0], sizeof(*out), KYMO_PROT_WRITE);
    if (!out) {
        return -EFAULT;
    }
    uint64_t now = arch_cycles();
    __builtin_memcpy(out, &now, sizeof(now));
    return 0;
}

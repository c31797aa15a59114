/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clocks: cycles to nanoseconds and back, CLOCK_MONOTONIC, CLOCK_REALTIME and its gradual
 * adjustment, and the calls ClockTime, ClockAdjust, ClockPeriod, ClockId, ClockCycles.
 *
 * Conversions multiply by a ratio stored as whole + fraction / 2^64, rounded down once at boot. For
 * any 64-bit x the result is floor(x * ratio) or one less: the fraction is too small by less than
 * 2^-64, times x less than 1. No division, no accumulating error, about 20 instructions.
 *
 * CLOCK_SOFTTIME is CLOCK_REALTIME. ClockId() returns clocks of CPU time, of a thread or of all
 * present threads of a process; they are read-only. ClockPeriod() returns the resolution of the
 * timers, one cycle; there is no tick to set. ClockAdjust() counts in ticks of 1 ms.
 *
 * Any context for the conversions and ClockCycles; kernel lock held for the rest. Errors: unknown
 * clocks (EINVAL), setting without ABILITY_CLOCK (EPERM), setting a read-only clock (EINVAL; the
 * period: ENOTSUP), bad memory (EFAULT). Tested by test/kernel (conversions against 128-bit
 * arithmetic).
 */
#include "kernel/time/time.h"

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"

#define NS_PER_S 1000000000u
/* Length of the ticks in which ClockAdjust() counts; Kymo itself has no ticks. */
#define CLOCK_TICK_NS 1000000u

/* Ids of CPU-time clocks: a flag, then a thread's rcvid or a pid. */
#define CLOCK_OF_THREAD 0x40000000u
#define CLOCK_OF_PROCESS 0x60000000u
#define CLOCK_VALUE 0x1fffffffu

struct clock_adjustment {
    uint64_t since_ns;   /* [k] monotonic */
    uint32_t ticks_left; /* [k] remaining at that time; 0: no adjustment */
    int32_t ns_per_tick; /* [k] */
};

static struct clock_ratio ns_per_cycle;
static uint32_t ns_exactly; /* [I] ns per cycle if that is a whole number; otherwise 0 */
struct clock_ratio clock_cycles_per_ns;
static uint64_t realtime_offset; /* [k] realtime - monotonic, without the adjustment in progress */
static struct clock_adjustment adjustment; /* [k] */

uint64_t clock_divide(uint64_t n, uint64_t d, uint64_t *rest)
{
    uint64_t q = 0, r = 0;
    for (int bit = 63; bit >= 0; bit--) {
        bool carry = r >> 63;
        r = r << 1 | (n >> bit & 1);
        q <<= 1;
        if (carry || r >= d) {
            r -= d;
            q |= 1;
        }
    }
    *rest = r;
    return q;
}

static struct clock_ratio ratio_of(uint64_t n, uint64_t d)
{
    uint64_t rest, unused;
    struct clock_ratio r = {.whole = clock_divide(n, d, &rest), .limit = UINT64_MAX};
    for (int i = 0; i < 64; i++) {
        bool carry = rest >> 63;
        rest <<= 1;
        r.fraction <<= 1;
        if (carry || rest >= d) {
            rest -= d;
            r.fraction |= 1;
        }
    }
    if (r.whole != 0) {
        r.limit = clock_divide(UINT64_MAX, r.whole + 1, &unused);
    }
    return r;
}

void clock_init(void)
{
    ns_per_cycle = ratio_of(NS_PER_S, arch_clock_hz());
    ns_exactly = ns_per_cycle.fraction == 0 ? (uint32_t)ns_per_cycle.whole : 0;
    clock_cycles_per_ns = ratio_of(arch_clock_hz(), NS_PER_S);
    if (arch_wall_clock() != 0) {
        realtime_offset = arch_wall_clock() * NS_PER_S - clock_now_ns();
    }
}

uint64_t clock_ns_to_cycles(uint64_t ns)
{
    return clock_scale(ns, &clock_cycles_per_ns);
}

uint64_t clock_cycles_to_ns(uint64_t cycles)
{
    return clock_scale(cycles, &ns_per_cycle);
}

uint64_t clock_now_ns(void)
{
    uint64_t cycles = arch_cycles();

    /* The product doesn't overflow for centuries. */
    return likely(ns_exactly != 0) ? cycles * ns_exactly : clock_cycles_to_ns(cycles);
}

/* Adds 3 cycles for rounding down twice and up once, and likewise 2 ns for the reading of the
 * clock, which matters on clocks of more than 1 GHz. */
uint64_t clock_expiry(uint64_t ns)
{
    uint64_t cycles = clock_ns_to_cycles(clock_add(ns, 2));
    return cycles > UINT64_MAX - 4 ? UINT64_MAX : cycles + 3;
}

/* Returns the adjustment applied so far; adds it to the offset when it is complete. */
static int64_t clock_adjusted(uint64_t now_ns)
{
    if (adjustment.ticks_left == 0) {
        return 0;
    }
    uint64_t rest;
    uint64_t ticks = clock_divide(now_ns - adjustment.since_ns, CLOCK_TICK_NS, &rest);
    if (ticks < adjustment.ticks_left) {
        return (int64_t)ticks * adjustment.ns_per_tick;
    }
    realtime_offset += (uint64_t)((int64_t)adjustment.ticks_left * adjustment.ns_per_tick);
    adjustment.ticks_left = 0;
    return 0;
}

/* Returns CLOCK_REALTIME - CLOCK_MONOTONIC, now (modulo 2^64). */
static uint64_t clock_realtime_offset(void)
{
    int64_t extra = clock_adjusted(clock_now_ns()); /* called first: may change the offset */
    return realtime_offset + (uint64_t)extra;
}

uint64_t clock_realtime_ns(void)
{
    return clock_now_ns() + clock_realtime_offset();
}

uint64_t clock_monotonic_at(uint64_t realtime_ns)
{
    uint64_t offset = clock_realtime_offset();
    if ((int64_t)offset < 0) { /* real time was set to a time before the clock's start */
        return clock_add(realtime_ns, 0 - offset);
    }
    return realtime_ns > offset ? realtime_ns - offset : 0;
}

static void clock_realtime_set(uint64_t ns)
{
    adjustment.ticks_left = 0;
    realtime_offset = ns - clock_now_ns();
}

/* Re-arms timers after the clock has been set, starting with the timer that self->step says. */
static long clock_was_set(struct thread *self)
{
    self->step = timer_clock_was_set(self->step);
    return self->step ? KER_AGAIN : 0;
}

static void clock_adjustment_get(struct clock_adjustment *out)
{
    uint64_t now = clock_now_ns(), rest;
    clock_adjusted(now);
    *out = adjustment;
    if (out->ticks_left != 0) {
        out->ticks_left -= (uint32_t)clock_divide(now - out->since_ns, CLOCK_TICK_NS, &rest);
    }
}

static void clock_adjustment_set(uint32_t ticks, int32_t ns_per_tick)
{
    realtime_offset = clock_realtime_offset();
    adjustment = (struct clock_adjustment){clock_now_ns(), ticks, ns_per_tick};
}

/* ---- the kernel calls -------------------------------------------------------------- */

static uint64_t clock_process_cycles(const struct process *proc)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        if (proc->threads[i]) {
            sum += thread_run_cycles(proc->threads[i]);
        }
    }
    return sum;
}

/* Returns 0, or -EINVAL: no such clock. */
static int clock_read(uint32_t id, uint64_t *ns)
{
    if (id == CLOCK_REALTIME || id == CLOCK_SOFTTIME) {
        *ns = clock_realtime_ns();
    } else if (id == CLOCK_MONOTONIC) {
        *ns = clock_now_ns();
    } else if ((id & ~CLOCK_VALUE) == CLOCK_OF_THREAD) {
        const struct thread *t = rcvid_thread(id & CLOCK_VALUE);
        *ns = t ? clock_cycles_to_ns(thread_run_cycles(t)) : 0;
        return t ? 0 : -EINVAL;
    } else if ((id & ~CLOCK_VALUE) == CLOCK_OF_PROCESS) {
        const struct process *proc = process_find((int)(id & CLOCK_VALUE));
        *ns = proc ? clock_cycles_to_ns(clock_process_cycles(proc)) : 0;
        return proc ? 0 : -EINVAL;
    } else {
        return -EINVAL;
    }
    return 0;
}

/* Returns 0, or the error for a process that can't set this clock. */
static int clock_may_set(const struct process *proc, uint32_t id)
{
    if (id != CLOCK_REALTIME && id != CLOCK_SOFTTIME) {
        return -EINVAL;
    }
    return process_able(proc, ABILITY_CLOCK) ? 0 : -EPERM;
}

long ker_clock_time(struct thread *self, const uintptr_t *args)
{
    uint64_t old_ns, new_ns = 0;
    if (self->step) {
        return clock_was_set(self);
    }
    int r = clock_read((uint32_t)args[0], &old_ns);
    if (r == 0 && args[1]) {
        r = clock_may_set(self->proc, (uint32_t)args[0]);
        r = r == 0 ? copy_in(self->proc, &new_ns, args[1], sizeof(new_ns)) : r;
    }
    if (r == 0 && args[2]) {
        r = copy_out(self->proc, args[2], &old_ns, sizeof(old_ns));
    }
    if (r == 0 && args[1]) {
        clock_realtime_set(new_ns);
        return clock_was_set(self);
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
        int r = clock_may_set(self->proc, (uint32_t)args[0]);
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
    const uint32_t ns = (uint32_t)clock_cycles_to_ns(1);
    const struct _clockperiod period = {.nsec = ns > 0 ? ns : 1}; /* for a clock above 1 GHz */
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

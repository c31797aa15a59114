/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time: cycles to nanoseconds and back, CLOCK_MONOTONIC, CLOCK_REALTIME and its gradual adjustment.
 *
 * Conversions multiply by a ratio stored as whole + fraction / 2^64, rounded down once at boot. For
 * any 64-bit x the result is floor(x * ratio) or one less: the fraction is too small by less than
 * 2^-64, times x less than 1. No division, no accumulating error, about 20 instructions. Any
 * context for the conversions; kernel lock held for the time of day. Proved by test/unit_ipc
 * (against 128-bit arithmetic).
 */
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/time/clock_impl.h"

#define NS_PER_S 1000000000u

struct ratio {
    uint64_t whole;    /* [I] integer part of the ratio */
    uint64_t fraction; /* [I] of 2^64 */
    uint64_t limit;    /* [I] arguments from here on saturate */
};

static struct ratio ns_per_cycle, cycles_per_ns;
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

static struct ratio ratio_of(uint64_t n, uint64_t d)
{
    uint64_t rest, unused;
    struct ratio r = {.whole = clock_divide(n, d, &rest), .limit = UINT64_MAX};
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

static inline uint64_t clock_scale(uint64_t x, const struct ratio *r)
{
    uint64_t part = arch_multiply_high(x, r->fraction);
    if (r->whole == 0) {
        return part;
    }
    return x >= r->limit ? UINT64_MAX : x * r->whole + part;
}

void clock_init(void)
{
    ns_per_cycle = ratio_of(NS_PER_S, arch_clock_hz());
    cycles_per_ns = ratio_of(arch_clock_hz(), NS_PER_S);
    if (arch_wall_clock() != 0) {
        realtime_offset = arch_wall_clock() * NS_PER_S - clock_now_ns();
    }
}

uint64_t clock_ns_to_cycles(uint64_t ns)
{
    return clock_scale(ns, &cycles_per_ns);
}

uint64_t clock_cycles_to_ns(uint64_t cycles)
{
    return clock_scale(cycles, &ns_per_cycle);
}

uint64_t clock_now_ns(void)
{
    return clock_cycles_to_ns(arch_cycles());
}

/* Adds 3 cycles for two roundings down and one up, and 2 ns likewise for the reading of the clock,
 * which matters on clocks of more than 1 GHz. */
uint64_t clock_expiry(uint64_t ns)
{
    uint64_t cycles = clock_ns_to_cycles(clock_add(ns, 2));
    return cycles > UINT64_MAX - 4 ? UINT64_MAX : cycles + 3;
}

/* Returns the adjustment applied so far; folds it into the offset when it is complete. */
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

uint64_t clock_realtime_offset(void)
{
    int64_t extra = clock_adjusted(clock_now_ns()); /* first: may change the offset */
    return realtime_offset + (uint64_t)extra;
}

uint64_t clock_realtime_ns(void)
{
    return clock_now_ns() + clock_realtime_offset();
}

uint64_t clock_monotonic_at(uint64_t realtime_ns)
{
    uint64_t offset = clock_realtime_offset();
    if ((int64_t)offset < 0) { /* real time is set to before the clock's 0 */
        return clock_add(realtime_ns, 0 - offset);
    }
    return realtime_ns > offset ? realtime_ns - offset : 0;
}

void clock_realtime_set(uint64_t ns)
{
    adjustment.ticks_left = 0;
    realtime_offset = ns - clock_now_ns();
    timer_clock_was_set();
}

void clock_adjustment_get(struct clock_adjustment *out)
{
    uint64_t now = clock_now_ns(), rest;
    clock_adjusted(now);
    *out = adjustment;
    if (out->ticks_left != 0) {
        out->ticks_left -= (uint32_t)clock_divide(now - out->since_ns, CLOCK_TICK_NS, &rest);
    }
}

void clock_adjustment_set(uint32_t ticks, int32_t ns_per_tick)
{
    realtime_offset = clock_realtime_offset();
    adjustment = (struct clock_adjustment){clock_now_ns(), ticks, ns_per_tick};
}

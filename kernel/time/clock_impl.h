/* SPDX-License-Identifier: BSD-2-Clause */
/* The time of day, shared by clock.c, clock_calls.c and timer_calls.c. Kernel lock held. */
#ifndef KERNEL_TIME_CLOCK_IMPL_H
#define KERNEL_TIME_CLOCK_IMPL_H

#include "kernel/time/timer.h"

/* Length of the ticks in which ClockAdjust() counts; Kymo itself has none. */
#define CLOCK_TICK_NS 1000000u

struct clock_adjustment {
    uint64_t since_ns;   /* [k] monotonic */
    uint32_t ticks_left; /* [k] remaining at that time; 0: no adjustment */
    int32_t ns_per_tick; /* [k] */
};

/* Returns CLOCK_REALTIME - CLOCK_MONOTONIC, now (modulo 2^64). */
uint64_t clock_realtime_offset(void);
/* Returns the monotonic time of this real time, future or past; 0: before the clock began. */
uint64_t clock_monotonic_at(uint64_t realtime_ns);
static inline uint64_t clock_add(uint64_t a, uint64_t b) /* saturates */
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
void clock_realtime_set(uint64_t ns);
void clock_adjustment_get(struct clock_adjustment *out);
void clock_adjustment_set(uint32_t ticks, int32_t ns_per_tick);

#endif

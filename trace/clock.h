/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time stamps: 64 bits, strictly increasing on each CPU. Slots hold the low word, TIME slots also
 * the high word. Own CPU, interrupts masked.
 *
 * 32-bit timers: a low word above the last stamp's means "later, in the same wrap" only if less
 * than a wrap has passed since. So trace_clock_wrapped(), called at least twice a wrap, writes a
 * TIME slot when the high word has changed or nothing was recorded for half a wrap. Between a wrap
 * and that call the low word is below the last stamp's and below the software clock's, which is how
 * an event detects the wrap. Invariant of the fast paths: while limit is not NULL, time_high is the
 * high word of the software clock. Other code that moves the clock over a wrap sets limit to NULL.
 *
 * Stamps may run ahead of the clock by one per event that shares a tick. If that takes them over a
 * wrap, the CPU stays in the slow path (time_ahead) until the clock catches up. Tested by
 * test/trace/clock_test.c.
 */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include "trace/port.h"
#include "trace/ring.h"

#if TRACE_PORT_CLOCK_BITS == 32
typedef uint32_t trace_now_t;
#define TRACE_NOW() trace_port_clock_low()
#else
typedef uint64_t trace_now_t;
#define TRACE_NOW() trace_port_clock()
#endif

/* Returns true if the clock passed a wrap that the log has not recorded. Valid while limit is not
 * NULL. */
static inline bool trace_clock_over(const struct trace_cpu *cpu, trace_now_t now)
{
    return TRACE_PORT_CLOCK_BITS == 32 ? now < cpu->clock_low : now >= cpu->wrap;
}

/* Handles such a wrap: returns the high word of now and sets the software clock's to it. */
static inline uint32_t trace_clock_high(struct trace_cpu *cpu, trace_now_t now)
{
    uint32_t high = (uint32_t)((uint64_t)now >> 32);

    if (TRACE_PORT_CLOCK_BITS == 32) {
        high = ++cpu->clock_high;
        cpu->clock_low = (uint32_t)now;
    }
    return high;
}

static inline uint64_t trace_clock_last(const struct trace_cpu *cpu)
{
    return (uint64_t)cpu->time_high << 32 | cpu->cursor[-1].time;
}

/* Returns the extended reading, which is exact if this is called at least once per wrap of the
 * 32-bit timer. */
static inline uint64_t trace_clock_extended(struct trace_cpu *cpu, uint32_t low)
{
    uint32_t high = cpu->clock_high + (low < cpu->clock_low);

    cpu->clock_low = low;
    cpu->clock_high = high;
    return (uint64_t)high << 32 | low;
}

/* Inside the log, where limit is recomputed afterwards: trace_clock_whole() extends a reading to 64
 * bits, trace_clock_now() reads the clock. */
static inline uint64_t trace_clock_whole(struct trace_cpu *cpu, trace_now_t now)
{
    return TRACE_PORT_CLOCK_BITS == 32 ? trace_clock_extended(cpu, (uint32_t)now) : now;
}

static inline uint64_t trace_clock_now(struct trace_cpu *cpu)
{
    return trace_clock_whole(cpu, TRACE_NOW());
}

/*
 * Returns the next stamp, chosen so that it and the `more` stamps after it have the same high word:
 * if they would not, it is the first stamp of the next high word. Sets time_ahead.
 */
uint64_t trace_clock_stamp(struct trace_cpu *cpu, uint32_t more);

/* Called when a TIME or BUFFER slot has taken a stamp: sets the log's high word to the stamp's. */
static inline void trace_clock_set_high(struct trace_cpu *cpu, uint32_t high)
{
    cpu->time_high = high;
    if (TRACE_PORT_CLOCK_BITS != 32) {
        cpu->wrap = ((uint64_t)high + 1) << 32;
    }
}

#endif

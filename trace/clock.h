/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stamps: 64 bits, strictly increasing on each CPU, of which slots hold the low word and TIME slots
 * the high one. Own CPU, interrupts masked.
 *
 * 32-bit timers: a low word above the last stamp's says "later, in the same wrap" only if less than
 * a wrap has passed. So trace_clock_wrapped(), called at least twice a wrap, writes a TIME slot
 * when the high word has changed or nothing was recorded for half a wrap. Between a wrap and that
 * call the low word is below the last stamp's, and below the software clock's, by which an event
 * sees it. Invariant that the short paths rely on: while limit is not NULL, time_high is the high
 * word of the software clock. Whoever else moves the clock over a wrap makes limit NULL.
 *
 * Stamps may run ahead of the clock by one per event that shares a tick; if that takes them over a
 * wrap the CPU stays in the slow path (time_ahead) until the clock follows.
 * Proof: test/unit/test_clock.c.
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

/* Has the clock gone over a wrap that the log knows nothing of? While limit is not NULL. */
static inline bool trace_clock_over(const struct trace_cpu *cpu, trace_now_t now)
{
    return TRACE_PORT_CLOCK_BITS == 32 ? now < cpu->clock_low : now >= cpu->wrap;
}

/* If so: the high word of now, which becomes the software clock's. */
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

/* Exact if called at least once per wrap of the 32-bit timer. */
static inline uint64_t trace_clock_extended(struct trace_cpu *cpu, uint32_t low)
{
    uint32_t high = cpu->clock_high + (low < cpu->clock_low);

    cpu->clock_low = low;
    cpu->clock_high = high;
    return (uint64_t)high << 32 | low;
}

/* Inside the log, where limit is set anew afterwards: all of a reading; a reading. */
static inline uint64_t trace_clock_whole(struct trace_cpu *cpu, trace_now_t now)
{
    return TRACE_PORT_CLOCK_BITS == 32 ? trace_clock_extended(cpu, (uint32_t)now) : now;
}

static inline uint64_t trace_clock_now(struct trace_cpu *cpu)
{
    return trace_clock_whole(cpu, TRACE_NOW());
}

/*
 * The next stamp, such that it and `more` stamps after it have the same high word. If they would
 * not, it is the first one of the next high word. Sets time_ahead.
 */
uint64_t trace_clock_stamp(struct trace_cpu *cpu, uint32_t more);

/* A TIME or BUFFER slot took this stamp: its high word is the log's now. */
static inline void trace_clock_set_high(struct trace_cpu *cpu, uint32_t high)
{
    cpu->time_high = high;
    if (TRACE_PORT_CLOCK_BITS != 32) {
        cpu->wrap = ((uint64_t)high + 1) << 32;
    }
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stamps: 64 bits, strictly increasing on each CPU, of which slots hold the low word and TIME slots
 * the high one. Own CPU, interrupts masked.
 *
 * 32-bit timers: the low word says "later" only to less than a wrap, so trace_clock_wrapped(),
 * called at least twice per wrap, reads the clock and sends the next event through the slow path,
 * where the time is exact. Stamps may run ahead of the clock by one per event that shares a tick;
 * if that takes them over a wrap the CPU stays in the slow path (time_ahead) until the clock
 * follows. Proof: test/unit/test_clock.c.
 */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include "trace/port.h"
#include "trace/ring.h"

static inline uint64_t trace_clock_last(const struct trace_cpu *cpu)
{
    return (uint64_t)cpu->time_high << 32 | cpu->cursor[-1].time;
}

/*
 * The next stamp, such that it and `more` stamps after it have the same high word. If they would
 * not, it is the first one of the next high word. Sets time_ahead.
 */
uint64_t trace_clock_stamp(struct trace_cpu *cpu, uint32_t more);
/* A TIME or BUFFER slot took this stamp: its high word is the log's now. */
void trace_clock_set_high(struct trace_cpu *cpu, uint64_t stamp);

#endif

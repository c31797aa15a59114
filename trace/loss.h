/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One CPU's account of lost events. A loss is first pending, and settled when a DROPPED slot
 * records it in the stream. If the buffer with that slot is lost, too, its counts are pending
 * again. So made = events in buffers + taken + recycled + lost (settled and pending), always.
 *
 * No function visits all buffers, and no call handles more than a few DROPPED slots or the classes
 * of one buffer, because interrupts are masked. So the first three terms are maintained as sums:
 * the ACTIVE buffer's counts, and `closed`, to which a buffer's events are added when it is closed,
 * and from which they are subtracted only if they are lost.
 *
 * All functions: own CPU, interrupts masked. No lock. Tested by test/trace/overrun_test.c,
 * test/trace/random_test.c.
 */
#ifndef TRACE_LOSS_H
#define TRACE_LOSS_H

#include "trace/ring.h"

/* Counts `events` lost events of a class for a reason (KYMO_DROP_*). */
void trace_loss_add(struct trace_loss *loss, unsigned reason, unsigned slot_class, uint32_t events);
/* Counts a nested event, in any state of the log: changes one counter that only this function and
 * trace_loss_add_recursive() use. */
void trace_loss_recursive(struct trace_cpu *cpu, unsigned slot_class);
void trace_loss_add_recursive(struct trace_cpu *cpu);
/* Returns the sum of a buffer's counts. A word holds two counts, and two sums: a buffer has fewer
 * events than 2^16. */
static inline uint32_t trace_loss_events(const uint16_t count[TRACE_CLASS_MAX])
{
    typedef uint32_t two __attribute__((may_alias));
    const two *counts = (const two *)(const void *)count;
    uint32_t sums = 0;

    KYMO_STATIC_ASSERT(TRACE_BUFFER_SLOTS <= UINT16_MAX, "two sums in a word");
#pragma GCC unroll 8
    for (unsigned i = 0; i < TRACE_CLASS_MAX / 2; i++) {
        sums += counts[i];
    }
    return (sums >> 16) + (uint16_t)sums;
}

/* The most DROPPED slots that one step reads back or writes. */
#define TRACE_LOSS_STEP 3u
/* Settles the first pending loss from *number on. Losses have numbers: reason * TRACE_CLASS_MAX +
 * class. Returns DROPPED's d1 and d2, and in *number the next loss's number. Returns false if none
 * is left. */
bool trace_loss_next(struct trace_loss *loss, uint32_t *number, uint32_t *reason_class,
                     uint32_t *events);
/*
 * Does a step of counting the events of a buffer that is reused or discarded as lost for this
 * reason; 0: not lost (ring policy). The counts of its DROPPED slots become pending again. Returns
 * true if more steps are left; the account is also exact between them.
 */
bool trace_loss_buffer(struct trace_cpu *cpu, uint32_t index, unsigned reason);
/* Copies a CPU's account at one moment; made, lost and lost_reason exclude pending losses. */
void trace_loss_report(const struct trace_cpu *cpu, struct kymo_trace_loss *out);
/* Completes such a copy, in any context: adds its pending counts to the others. */
void trace_loss_sum(struct kymo_trace_loss *out);

#endif

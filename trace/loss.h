/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One CPU's account of lost events. A loss is first pending, and settled when a DROPPED slot puts
 * it into the stream. If the buffer with that slot is lost too, its counts are pending again. So
 * made = events in buffers + taken + recycled + lost (settled and pending), always.
 *
 * Nothing here looks at all buffers, and no call does more than a few DROPPED slots or the classes
 * of one buffer, because interrupts are masked. So the first three terms are sums that are kept:
 * the ACTIVE buffer's counts, and `closed`, which a buffer joins when it is closed and leaves only
 * if its events are lost.
 *
 * All functions: own CPU, interrupts masked. No lock. Proof: test/trace/overrun_test.c,
 * test/trace/random_test.c.
 */
#ifndef TRACE_LOSS_H
#define TRACE_LOSS_H

#include "trace/ring.h"

/* Counts `events` lost events of a class for a reason (KYMO_DROP_*). */
void trace_loss_add(struct trace_loss *loss, unsigned reason, unsigned slot_class, uint32_t events);
/* Counts a nested event, in any state of the log: touches one counter that only it and fold()
 * use. */
void trace_loss_recursive(struct trace_cpu *cpu, unsigned slot_class);
void trace_loss_fold(struct trace_cpu *cpu);
/* Returns the sum of a buffer's counts. Two are in a word, and so are two sums: a buffer has fewer
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

/* Most DROPPED slots that one step reads back or writes. */
#define TRACE_LOSS_STEP 3u
/* Losses have numbers: reason * TRACE_CLASS_MAX + class. Settles the first pending one from *number
 * on: returns DROPPED's d1 and d2, and in *number the next one's number. Returns false if none is
 * left there. */
bool trace_loss_next(struct trace_loss *loss, uint32_t *number, uint32_t *reason_class,
                     uint32_t *events);
/*
 * A step in counting the events of a buffer that is reused or discarded as lost for this reason; 0:
 * intended (ring policy). The counts of its DROPPED slots are pending again. Returns true if more
 * steps are left; the account is exact between them, too.
 */
bool trace_loss_buffer(struct trace_cpu *cpu, uint32_t index, unsigned reason);
/* Copies a CPU's account, as of one moment; made, lost and lost_reason without what is pending. */
void trace_loss_report(const struct trace_cpu *cpu, struct kymo_trace_loss *out);
/* Completes such a copy, in any context: its pending counts belong to the others, too. */
void trace_loss_sum(struct kymo_trace_loss *out);

#endif

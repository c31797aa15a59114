/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One CPU's account of lost events. A loss is first pending, and settled when a DROPPED slot puts
 * it into the stream. If the buffer with that slot is lost too, its counts are pending again. So
 * made = events in buffers + taken + recycled + lost (settled and pending), always.
 *
 * All functions: own CPU, interrupts masked. No lock. Proof: test/unit/test_overrun.c.
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
/* Returns how many DROPPED slots the next opening of a buffer writes: one for each pending count,
 * at most TRACE_DROPPED_MOST. */
unsigned trace_loss_slots(const struct trace_loss *loss);
/* Settles the next pending count: returns DROPPED's d1 and d2. Returns false if none is left. */
bool trace_loss_next(struct trace_loss *loss, uint32_t *reason_class, uint32_t *events);
/* Counts the events of a buffer that is reused or discarded as lost for this reason; 0: intended
 * (ring policy). The counts of its DROPPED slots are pending again. */
void trace_loss_buffer(struct trace_cpu *cpu, uint32_t index, unsigned reason);
/* Copies what made, lost, lost_reason, pending and recycled are computed from. Also allowed under
 * the kernel lock. */
void trace_loss_report(const struct trace_cpu *cpu, struct kymo_trace_loss *out);
/* Completes such a copy, in any context: its pending counts belong to the others, too. */
void trace_loss_sum(struct kymo_trace_loss *out);
uint32_t trace_buffer_events(const struct trace_buffer *buffer);

#endif

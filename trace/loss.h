/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The account of lost events of one CPU: what is lost is first pending, and settled when a DROPPED
 * slot puts it into the stream. If that slot's buffer is lost in its turn its counts are pending
 * again. So made = events in buffers + taken + recycled + lost (settled and pending), always.
 *
 * All functions: own CPU, interrupts masked. No lock. Proof: test/unit/test_overrun.c.
 */
#ifndef TRACE_LOSS_H
#define TRACE_LOSS_H

#include "trace/ring.h"

/* `events` of a class were lost for a reason (KYMO_DROP_*). */
void trace_loss_add(struct trace_loss *loss, unsigned reason, unsigned class, uint32_t events);
/* A nested event, in the middle of anything: touches one counter that only it and fold() use. */
void trace_loss_recursive(struct trace_cpu *cpu, unsigned class);
void trace_loss_fold(struct trace_cpu *cpu);
/* How many DROPPED slots all pending counts take. */
unsigned trace_loss_slots(const struct trace_loss *loss);
/* The next pending count, which becomes settled: DROPPED's d1 and d2. False: none left. */
bool trace_loss_next(struct trace_loss *loss, uint32_t *reason_class, uint32_t *events);
/* The events of a buffer that is reused or given up are lost for this reason; 0: they were meant to
 * go (ring policy). Its DROPPED slots' counts are pending again. */
void trace_loss_buffer(struct trace_cpu *cpu, uint32_t index, unsigned reason);
/* Fills in made, lost, lost_reason, pending, recycled. Under the kernel lock too. */
void trace_loss_report(const struct trace_cpu *cpu, struct kymo_trace_loss *out);
uint32_t trace_buffer_events(const struct trace_buffer *buffer);

#endif

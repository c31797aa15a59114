/* SPDX-License-Identifier: BSD-2-Clause */
/* The account of lost events. See trace/loss.h. */
#include "trace/assert.h"
#include "trace/loss.h"

#include "trace/port.h"

/* For assertions: settled counts are equal by class and by reason (I7 of docs/inside/ring.md). */
static inline bool loss_sound(const struct trace_loss *loss)
{
    uint64_t classes = 0, reasons = 0;

    for (unsigned slot_class = 0; slot_class < TRACE_CLASS_MAX; slot_class++) {
        classes += loss->lost[slot_class];
    }
    for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
        reasons += loss->lost_reason[reason];
    }
    return classes == reasons;
}

void trace_loss_add(struct trace_loss *loss, unsigned reason, unsigned slot_class, uint32_t events)
{
    if (events == 0) {
        return;
    }
    trace_assert(reason < KYMO_TRACE_REASONS && slot_class < TRACE_CLASS_MAX);
    loss->pending[reason][slot_class] += events;
    loss->classes[reason] |= 1u << slot_class;
    loss->reasons |= 1u << reason;
}

void trace_loss_recursive(struct trace_cpu *cpu, unsigned slot_class)
{
    cpu->loss.recursive[slot_class]++;
    cpu->nested = true;
}

void trace_loss_add_recursive(struct trace_cpu *cpu)
{
    cpu->nested = false;
    for (unsigned slot_class = 0; slot_class < TRACE_CLASS_MAX; slot_class++) {
        uint32_t events = cpu->loss.recursive[slot_class];

        cpu->loss.recursive[slot_class] -= events;
        trace_loss_add(&cpu->loss, KYMO_DROP_RECURSIVE, slot_class, events);
    }
}

bool trace_loss_next(struct trace_loss *loss, uint32_t *number, uint32_t *reason_class,
                     uint32_t *events)
{
    unsigned reason = *number / TRACE_CLASS_MAX, slot_class = *number % TRACE_CLASS_MAX;
    uint32_t classes = 0;

    for (; reason < KYMO_TRACE_REASONS; reason++, slot_class = 0) {
        classes = loss->classes[reason] >> slot_class << slot_class;
        if (classes) {
            break;
        }
    }
    if (!classes) {
        return false;
    }
    slot_class = (unsigned)__builtin_ctz(classes);
    uint64_t pending = loss->pending[reason][slot_class];
    uint32_t n = pending < UINT32_MAX ? (uint32_t)pending : UINT32_MAX; /* the rest follows */

    trace_assert(n > 0);
    loss->pending[reason][slot_class] = pending - n;
    if (pending == n) {
        loss->classes[reason] &= ~(1u << slot_class);
    }
    if (!loss->classes[reason]) {
        loss->reasons &= ~(1u << reason);
    }
    loss->lost[slot_class] += n;
    loss->lost_reason[reason] += n;
    *number = reason * TRACE_CLASS_MAX + slot_class + 1;
    *reason_class = reason << 8 | slot_class;
    *events = n;
    trace_assert(loss_sound(loss));
    return true;
}

/* Reads some DROPPED slots back from the buffer, which no process can write. */
static void loss_unsettle(struct trace_cpu *cpu, uint32_t index)
{
    struct trace_buffer *buffer = &cpu->ring.buffers[index];
    const struct trace_slot *slot = (const struct trace_slot *)trace_ring_data(&cpu->ring, index);
    struct trace_loss *loss = &cpu->loss;

    slot += 2 + buffer->dropped_back; /* BUFFER, TIME */
    for (unsigned i = 0; i < TRACE_LOSS_STEP && buffer->dropped_back < buffer->dropped_slots; i++) {
        unsigned reason = slot->d1 >> 8, slot_class = slot->d1 & 0xff;

        trace_assert(reason < KYMO_TRACE_REASONS && slot_class < TRACE_CLASS_MAX);
        trace_assert(loss->lost[slot_class] >= slot->d2);
        loss->lost[slot_class] -= slot->d2;
        loss->lost_reason[reason] -= slot->d2;
        trace_loss_add(loss, reason, slot_class, slot->d2);
        buffer->dropped_back++;
        slot++;
    }
}

/* Adds the counts of a buffer to the pending ones. Unrolled, because interrupts are masked. */
static void loss_add_counts(struct trace_loss *loss, unsigned reason, const uint16_t *count)
{
    uint64_t *pending = loss->pending[reason];
    uint32_t classes = 0;

#pragma GCC unroll 16
    for (unsigned slot_class = 0; slot_class < TRACE_CLASS_MAX; slot_class++) {
        uint32_t events = count[slot_class];

        if (events) {
            pending[slot_class] += events;
            classes |= 1u << slot_class;
        }
    }
    loss->classes[reason] |= classes;
    loss->reasons |= 1u << reason;
}

bool trace_loss_buffer(struct trace_cpu *cpu, uint32_t index, unsigned reason)
{
    struct trace_buffer *buffer = &cpu->ring.buffers[index];

    if (buffer->dropped_back < buffer->dropped_slots) {
        loss_unsettle(cpu, index);
        return true;
    }
    uint32_t events = trace_loss_events(buffer->count);

    if (!reason) {
        cpu->loss.recycled += events;
    } else if (events) {
        cpu->closed -= events;
        loss_add_counts(&cpu->loss, reason, buffer->count);
    } else if (reason == KYMO_DROP_OVERWRITTEN) {
        /* A reader of the capture finds the gap in the sequences, and requires at least one loss
         * for each lost buffer. For a buffer without events, its TIME is counted as lost: one event
         * of class CONTROL. Its DROPPED slots belong to the account of other buffers. */
        trace_loss_add(&cpu->loss, reason, TRACE_CLASS_CONTROL, 1);
    }
    return false;
}

void trace_loss_report(const struct trace_cpu *cpu, struct kymo_trace_loss *out)
{
    const struct trace_loss *loss = &cpu->loss;

    KYMO_STATIC_ASSERT(sizeof(out->pending) == sizeof(loss->pending) &&
                           sizeof(out->lost) == sizeof(loss->lost) &&
                           sizeof(out->lost_reason) == sizeof(loss->lost_reason),
                       "an account is a copy of these");
    __builtin_memcpy(out->pending, loss->pending, sizeof(out->pending));
    __builtin_memcpy(out->lost, loss->lost, sizeof(out->lost));
    __builtin_memcpy(out->lost_reason, loss->lost_reason, sizeof(out->lost_reason));
    out->recycled = loss->recycled;
    out->made = cpu->closed + trace_loss_events(cpu->count);
    out->buffers_closed = cpu->ring.closed_sequence; /* none is discarded while it is ACTIVE */
    out->buffers_overwritten = cpu->ring.overwritten;
    out->sequence = cpu->ring.sequence;
    out->ready_most = cpu->ring.ready_most;
}

void trace_loss_sum(struct kymo_trace_loss *out)
{
    for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
        for (unsigned slot_class = 0; slot_class < TRACE_CLASS_MAX; slot_class++) {
            uint64_t events = out->pending[reason][slot_class];

            out->lost[slot_class] += events;
            out->lost_reason[reason] += events;
        }
        trace_port_window();
    }
    for (unsigned slot_class = 0; slot_class < TRACE_CLASS_MAX; slot_class++) {
        out->made += out->lost[slot_class];
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The account of lost events. See trace/loss.h. */
#include "trace/assert.h"
#include "trace/loss.h"

#include "trace/port.h"

/* For assertions: what is settled is the same by class and by reason (I7 of docs/ring.md). */
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

void trace_loss_fold(struct trace_cpu *cpu)
{
    cpu->nested = false;
    for (unsigned slot_class = 0; slot_class < TRACE_CLASS_MAX; slot_class++) {
        uint32_t events = cpu->loss.recursive[slot_class];

        cpu->loss.recursive[slot_class] -= events;
        trace_loss_add(&cpu->loss, KYMO_DROP_RECURSIVE, slot_class, events);
    }
}

unsigned trace_loss_slots(const struct trace_loss *loss)
{
    unsigned slots = 0;

    for (uint32_t reasons = loss->reasons; reasons; reasons &= reasons - 1) {
        for (uint32_t classes = loss->classes[__builtin_ctz(reasons)]; classes;
             classes &= classes - 1) {
            slots++;
        }
    }
    return slots < TRACE_DROPPED_MOST ? slots : TRACE_DROPPED_MOST;
}

bool trace_loss_next(struct trace_loss *loss, uint32_t *reason_class, uint32_t *events)
{
    if (!loss->reasons) {
        return false;
    }
    unsigned reason = (unsigned)__builtin_ctz(loss->reasons);
    unsigned slot_class = (unsigned)__builtin_ctz(loss->classes[reason]);
    uint64_t pending = loss->pending[reason][slot_class];
    uint32_t n = pending < UINT32_MAX ? (uint32_t)pending : UINT32_MAX; /* the rest follows */

    trace_assert(n > 0);
    loss->pending[reason][slot_class] = pending - n;
    if (pending == n) {
        loss->classes[reason] &= loss->classes[reason] - 1;
    }
    if (!loss->classes[reason]) {
        loss->reasons &= loss->reasons - 1;
    }
    loss->lost[slot_class] += n;
    loss->lost_reason[reason] += n;
    *reason_class = reason << 8 | slot_class;
    *events = n;
    trace_assert(loss_sound(loss));
    return true;
}

/* Reads the DROPPED slots back from the buffer, which no process can write. */
static void loss_unsettle(struct trace_cpu *cpu, uint32_t index, unsigned dropped_slots)
{
    const struct trace_slot *slot = (const struct trace_slot *)trace_ring_data(&cpu->ring, index);

    slot += 2; /* BUFFER, TIME */
    for (unsigned i = 0; i < dropped_slots; i++, slot++) {
        unsigned reason = slot->d1 >> 8, slot_class = slot->d1 & 0xff;

        trace_assert(reason < KYMO_TRACE_REASONS && slot_class < TRACE_CLASS_MAX);
        trace_assert(cpu->loss.lost[slot_class] >= slot->d2);
        cpu->loss.lost[slot_class] -= slot->d2;
        cpu->loss.lost_reason[reason] -= slot->d2;
        trace_loss_add(&cpu->loss, reason, slot_class, slot->d2);
    }
}

void trace_loss_buffer(struct trace_cpu *cpu, uint32_t index, unsigned reason)
{
    struct trace_buffer *buffer = &cpu->ring.buffers[index];

    /* A reader of the capture finds the gap in the sequences, and requires at least one loss for
     * each lost buffer. For a buffer without events, its TIME is counted as lost: one event of
     * class CONTROL. */
    if (reason == KYMO_DROP_OVERWRITTEN && !buffer->dropped_slots &&
        trace_buffer_events(buffer) == 0) {
        trace_loss_add(&cpu->loss, KYMO_DROP_OVERWRITTEN, TRACE_CLASS_CONTROL, 1);
    }
    for (unsigned slot_class = 0; slot_class < TRACE_CLASS_MAX; slot_class++) {
        uint32_t events = buffer->count[slot_class];

        if (events && reason) {
            trace_loss_add(&cpu->loss, reason, slot_class, events);
        } else {
            cpu->loss.recycled += events;
        }
    }
    if (buffer->dropped_slots) {
        loss_unsettle(cpu, index, buffer->dropped_slots);
    }
}

uint32_t trace_buffer_events(const struct trace_buffer *buffer)
{
    uint32_t events = 0;

/* Interrupts may be masked, and there may be many buffers. */
#pragma GCC unroll 16
    for (unsigned slot_class = 0; slot_class < TRACE_CLASS_MAX; slot_class++) {
        events += buffer->count[slot_class];
    }
    return events;
}

static uint64_t events_in_buffers(const struct trace_cpu *cpu)
{
    uint64_t events = 0;

    for (unsigned slot_class = 0; slot_class < TRACE_CLASS_MAX; slot_class++) {
        events += cpu->count[slot_class];
    }
    for (uint32_t i = 0; i < cpu->ring.count; i++) {
        const struct trace_buffer *buffer = &cpu->ring.buffers[i];

        if (TRACE_WORD_STATE(buffer->word) == TRACE_READY) {
            events += trace_buffer_events(buffer);
        }
    }
    return events;
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
    out->made = events_in_buffers(cpu) + loss->taken + loss->recycled;
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

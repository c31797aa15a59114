/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers of the event log: opened with BUFFER, TIME and pending DROPPED slots, closed with their
 * counts, according to the policy; start, stop, flush. Own CPU, interrupts masked, any context; the
 * entry points of cross-calls also under the kernel lock. Described in docs/inside/ring.md; proof:
 * test/trace/log_test.c, overrun_test.c, random_test.c.
 */
#include "abi/compiler.h"
#include "trace/assert.h"
#include "trace/log_buffer.h"
#include "trace/loss.h"
#include "trace/retain.h"
#include "trace/ring_writer.h"

static struct trace_slot *buffer_start(const struct trace_cpu *cpu)
{
    return (struct trace_slot *)trace_ring_data(&cpu->ring, cpu->ring.active);
}

bool trace_log_passed(const struct trace_cpu *cpu)
{
    return cpu->end && cpu->cursor > buffer_start(cpu) + cpu->high_water;
}

/* For assertions: the ACTIVE buffer begins with its BUFFER and its TIME, and the cursor is in it,
 * behind them (I3, I5 of docs/inside/ring.md). */
static inline bool buffer_sound(const struct trace_cpu *cpu)
{
    const struct trace_slot *start = buffer_start(cpu);

    return cpu->end == start + TRACE_BUFFER_SLOTS && cpu->cursor >= start + 2 &&
           cpu->cursor <= cpu->end && start[0].d1 == cpu->ring.sequence &&
           start[0].header == TRACE_PORT_HEADER(cpu, TRACE_CONTROL_CODE(TRACE_CONTROL_BUFFER)) &&
           start[1].header == TRACE_PORT_HEADER(cpu, TRACE_CONTROL_CODE(TRACE_CONTROL_TIME));
}

static void close_buffer(struct trace_cpu *cpu)
{
    trace_assert(trace_port_irq_masked());
    trace_assert(cpu->end && cpu->ring.active != TRACE_NONE && buffer_sound(cpu));
    trace_assert(log_counts_agree(cpu)); /* I6 */
    struct trace_buffer *buffer = &cpu->ring.buffers[cpu->ring.active];
    struct trace_slot *start = cpu->end - TRACE_BUFFER_SLOTS;
    uint32_t slots = (uint32_t)(cpu->cursor - start);

    start->d2 = slots;
    buffer->used = slots * TRACE_SLOT_BYTES;
    log_move_counts(cpu, buffer);
    cpu->none[0].time = cpu->cursor[-1].time;
    cpu->cursor = &cpu->none[1];
    cpu->limit = cpu->due = cpu->full = cpu->end = NULL;
    trace_ring_close(&cpu->ring);
    if (cpu->ring.policy == TRACE_LINEAR) {
        cpu->request = true;
    }
}

/* Writes a few DROPPED slots, each loss once. Their stamps follow TIME's: see open_buffer(). */
static void put_dropped(struct trace_cpu *cpu)
{
    struct trace_buffer *buffer = &cpu->ring.buffers[cpu->ring.active];
    uint32_t number = cpu->reporting - 1, time = cpu->cursor[-1].time, reason_class, events;
    bool more = true;

    for (unsigned i = 0; more && i < TRACE_LOSS_STEP; i++) {
        more = trace_loss_next(&cpu->loss, &number, &reason_class, &events);
        if (!more) {
            break;
        }
        cpu->cursor = trace_port_put(
            cpu->cursor, TRACE_PORT_HEADER(cpu, TRACE_CONTROL_CODE(TRACE_CONTROL_DROPPED)), ++time,
            reason_class, events);
        buffer->dropped_slots++;
        more = cpu->loss.reasons && buffer->dropped_slots < TRACE_DROPPED_MOST; /* the rest waits */
    }
    cpu->reporting = more ? number + 1 : 0;
}

/* Returns the first high-water mark. A ring needs none, but its seals need the kernel's exit
 * (trace/retain.h). */
static struct trace_slot *first_high_water(const struct trace_cpu *cpu, struct trace_slot *start)
{
    if (cpu->ring.policy == TRACE_LINEAR) {
        return start + cpu->high_water;
    }
    return cpu->ring.policy == TRACE_RING && cpu->ring.retained ? start + TRACE_RETAIN_PACE
                                                                : cpu->end;
}

static void open_buffer(struct trace_cpu *cpu, uint32_t index)
{
    struct trace_ring *ring = &cpu->ring;
    trace_assert(!cpu->end && index < ring->count);
    struct trace_slot *slot = (struct trace_slot *)trace_ring_data(ring, index);
    uint32_t dropped = cpu->loss.reasons ? TRACE_DROPPED_MOST : 0; /* at most */
    uint64_t stamp = trace_clock_stamp(cpu, 2 + dropped);

    trace_assert(stamp > trace_clock_last(cpu));
    trace_ring_begin(ring, index);
    cpu->losing = false;
    ring->buffers[index].dropped_slots = ring->buffers[index].dropped_back = 0;
    cpu->end = slot + TRACE_BUFFER_SLOTS;
    cpu->due = first_high_water(cpu, slot);
    slot = trace_port_put(slot, TRACE_PORT_HEADER(cpu, TRACE_CONTROL_CODE(TRACE_CONTROL_BUFFER)),
                          (uint32_t)stamp, ring->sequence, 0);
    stamp++;
    cpu->cursor = log_put_time(cpu, slot, (uint32_t)(stamp >> 32), (uint32_t)stamp);
    cpu->reporting = dropped != 0;
    trace_assert(buffer_sound(cpu) && cpu->cursor < cpu->end);
}

void log_open_step(struct trace_cpu *cpu)
{
    trace_assert(trace_port_irq_masked() && log_opening(cpu));
    if (!cpu->obtained) {
        put_dropped(cpu);
        return;
    }
    uint32_t index = cpu->obtained - 1;
    unsigned reason = cpu->ring.policy == TRACE_RING ? 0 : KYMO_DROP_OVERWRITTEN;

    if (!trace_loss_buffer(cpu, index, reason)) {
        cpu->obtained = 0;
        open_buffer(cpu, index);
    }
}

/* Does all remaining steps, because the buffer is needed at once. */
static void open_wholly(struct trace_cpu *cpu)
{
    while (log_opening(cpu)) { /* at most LOG_OPEN_STEPS_MOST times */
        log_open_step(cpu);
    }
}

/* Updates the number of additional buffers that would have been needed so far. */
COLD static void log_note_demand(struct trace_cpu *cpu)
{
    uint32_t missed = (cpu->missed_slots + TRACE_BUFFER_SLOTS - 1) / TRACE_BUFFER_SLOTS;

    trace_ring_demand(&cpu->ring, cpu->ring.run + missed);
}

void log_missed(struct trace_cpu *cpu, unsigned slots)
{
    cpu->missed_slots += slots;
    log_note_demand(cpu);
}

bool log_next_buffer(struct trace_cpu *cpu)
{
    struct trace_ring *ring = &cpu->ring;
    bool reuse = ring->policy == TRACE_RING || (ring->policy == TRACE_LINEAR && ring->overwrite);
    uint32_t free = trace_ring_free(ring);
    bool any = reuse || free;
    uint32_t index;

    if (cpu->end && (any || cpu->cursor == cpu->end)) {
        close_buffer(cpu);
    }
    switch (any ? trace_ring_obtain(ring, reuse, &index) : TRACE_FOUND_NOTHING) {
    case TRACE_FOUND_NOTHING:
        trace_assert(!free); /* I8 */
        return false;
    case TRACE_FOUND_READY:  /* it has events that no process took */
        trace_assert(!free); /* I8 */
        ring->run += ring->policy != TRACE_RING;
        log_note_demand(cpu);
        cpu->obtained = index + 1;
        return true;
    case TRACE_FOUND_FREE:
        cpu->missed_slots = 0;
        break;
    }
    open_buffer(cpu, index);
    return true;
}

void trace_log_start(struct trace_cpu *cpu)
{
    trace_assert(trace_port_irq_masked());
    cpu->on = true;
    cpu->filled = false;
    log_set_limit(cpu);
}

void trace_log_flush(struct trace_cpu *cpu)
{
    trace_assert(trace_port_irq_masked());
    open_wholly(cpu);
    if (cpu->end) {
        close_buffer(cpu);
    }
}

/* Begins to open a FREE buffer. Returns false if none is FREE. */
static bool open_free(struct trace_cpu *cpu)
{
    uint32_t index;

    if (trace_ring_obtain(&cpu->ring, false, &index) != TRACE_FOUND_FREE) {
        return false;
    }
    cpu->missed_slots = 0;
    open_buffer(cpu, index);
    return true;
}

void trace_log_first(struct trace_cpu *cpu)
{
    if (!cpu->end && open_free(cpu) && cpu->ring.policy == TRACE_LINEAR) {
        open_wholly(cpu);
        close_buffer(cpu);
    }
    log_set_limit(cpu);
}

bool trace_log_visit(struct trace_cpu *cpu)
{
    trace_assert(trace_port_irq_masked());
    uint32_t least = cpu->end ? 1 : 2;

    if (!cpu->on || cpu->busy) {
        return false;
    }
    if (log_opening(cpu)) {
        log_open_step(cpu);
        log_set_limit(cpu);
        return true;
    }
    if (trace_ring_free(&cpu->ring) < least) {
        return false;
    }
    if (cpu->end && cpu->cursor < cpu->end) {
        /* Write a TIME at the end: up to it this CPU has recorded no other event. */
        uint64_t stamp = trace_clock_stamp(cpu, 1);

        cpu->cursor = log_put_time(cpu, cpu->cursor, (uint32_t)(stamp >> 32), (uint32_t)stamp);
    }
    bool more = !cpu->end && open_free(cpu) && log_opening(cpu);
    if (cpu->end && !more) {
        close_buffer(cpu);
    }
    log_set_limit(cpu);
    return more;
}

void trace_log_stop(struct trace_cpu *cpu)
{
    trace_log_flush(cpu);
    cpu->on = false;
    cpu->losing = false;
    cpu->limit = cpu->full = NULL;
}

bool trace_log_report_losses(struct trace_cpu *cpu)
{
    trace_assert(trace_port_irq_masked() && !cpu->on);
    if (log_opening(cpu)) {
        log_open_step(cpu);
        return true;
    }
    if (cpu->end) {
        close_buffer(cpu);
    }
    return cpu->loss.reasons && open_free(cpu);
}

bool trace_log_clear(struct trace_cpu *cpu, uint32_t index)
{
    trace_log_stop(cpu);
    if (TRACE_WORD_STATE(cpu->ring.buffers[index].word) != TRACE_READY) {
        return false;
    }
    if (trace_loss_buffer(cpu, index, KYMO_DROP_DISCARDED)) {
        return true;
    }
    trace_ring_discard(&cpu->ring, index);
    return false;
}

/* ---- the buffer switch of a simple event ------------------------------------------- */

/*
 * The fast path of a simple event from a full buffer, or from none, to the next one. Preconditions:
 * nothing lost, no wrap of the time near, and either linear policy and a FREE buffer, or ring
 * policy and a READY one without DROPPED slots. Does the same as log_slow() does then, without
 * branches to other cases, because a board's budget limits its cost; all other cases call
 * log_slow().
 */

/* BUFFER, TIME and the event: the stamps, and the slots needed before the high-water mark. */
#define SWITCH_SLOTS 3

static inline bool log_switch_is_usual(const struct trace_cpu *cpu, uint32_t now)
{
    return cpu->ring.policy == TRACE_LINEAR && !cpu->loss.reasons &&
           cpu->high_water >= SWITCH_SLOTS && now <= UINT32_MAX - SWITCH_SLOTS;
}

/* Obtains the oldest buffer of a ring, all of whose buffers except the ACTIVE one are READY. */
static inline bool log_switch_oldest(struct trace_cpu *cpu, uint32_t *index)
{
    struct trace_ring *ring = &cpu->ring;
    uint32_t s = ring->oldest, i = ring->by_sequence[s % ring->count];
    struct trace_buffer *buffer = &ring->buffers[i];

    if (ring->policy != TRACE_RING || ring->retained || trace_ring_free(ring) != 0 ||
        cpu->missed_slots || buffer->dropped_slots ||
        !trace_atomic_cas(&buffer->word, TRACE_WORD(s, TRACE_READY), TRACE_WORD(s, TRACE_ACTIVE),
                          __ATOMIC_ACQ_REL)) {
        return false;
    }
    ring->oldest = s + 1;
    ring->overwritten++;
    cpu->loss.recycled += trace_loss_events(buffer->count);
    *index = i;
    return true;
}

static inline void log_switch_close(struct trace_cpu *cpu)
{
    struct trace_buffer *buffer = &cpu->ring.buffers[cpu->ring.active];

    (cpu->end - TRACE_BUFFER_SLOTS)->d2 = TRACE_BUFFER_SLOTS;
    buffer->used = TRACE_BUFFER_BYTES;
    trace_assert(log_counts_agree(cpu)); /* I6 */
    log_move_counts(cpu, buffer);
    ring_close(&cpu->ring);
}

/* Writes BUFFER, TIME and the event. marked: the buffer has a high-water mark. */
TRACE_INLINE void log_switch_open(struct trace_cpu *cpu, bool marked, uint32_t index, uint32_t high,
                                  uint32_t low, uint32_t code, uint32_t d1, uint32_t d2)
{
    struct trace_slot *slot = (struct trace_slot *)trace_ring_data(&cpu->ring, index);
    struct trace_slot *end = slot + TRACE_BUFFER_SLOTS;
    struct trace_slot *due = marked ? slot + cpu->high_water : end;

    cpu->ring.buffers[index].dropped_slots = cpu->ring.buffers[index].dropped_back = 0;
    cpu->ring.run = cpu->missed_slots = 0;
    slot = trace_port_put(slot, TRACE_PORT_HEADER(cpu, TRACE_CONTROL_CODE(TRACE_CONTROL_BUFFER)),
                          low, ring_begin(&cpu->ring, index), 0);
    slot = log_put_time(cpu, slot, high, low + 1);
    log_put_simple(cpu, slot, code, low + 2, d1, d2);
    TRACE_YIELD_POINT("switched");
    if (unlikely(cpu->nested)) {
        trace_loss_add_recursive(cpu);
    }
    cpu->busy = false;
    cpu->end = end;
    cpu->due = cpu->limit = due;
    cpu->full = end;
}

/* A nested event during a buffer switch finds busy set, and limit NULL. */
static inline void log_switch_begin(struct trace_cpu *cpu)
{
    trace_assert(trace_port_irq_masked() && !cpu->busy);
    cpu->limit = cpu->full = NULL;
    cpu->busy = true;
    TRACE_YIELD_POINT("switch");
}

/* Switches buffers. limit and full are at the buffer's end: see trace/log.h. */
static bool log_switch_full(struct trace_cpu *cpu, uint32_t d1, uint32_t d2, uint32_t now,
                            uint32_t code)
{
    uint32_t index;

    if (!log_switch_is_usual(cpu, now) || !ring_take_free(&cpu->ring, &index)) {
        return false;
    }
    log_switch_begin(cpu);
    log_switch_close(cpu);
    log_switch_open(cpu, true, index, cpu->time_high, now, code, d1, d2);
    return true;
}

/* Likewise in a ring, which has no high-water mark. */
static __attribute__((noinline)) bool log_switch_ring(struct trace_cpu *cpu, uint32_t d1,
                                                      uint32_t d2, uint32_t now, uint32_t code)
{
    uint32_t index;

    if (cpu->loss.reasons || now > UINT32_MAX - SWITCH_SLOTS || !log_switch_oldest(cpu, &index)) {
        return false;
    }
    log_switch_begin(cpu);
    log_switch_close(cpu);
    log_switch_open(cpu, false, index, cpu->time_high, now, code, d1, d2);
    return true;
}

/* Opens a buffer where none is ACTIVE; checks the time and all other preconditions. */
static bool log_switch_none(struct trace_cpu *cpu, uint32_t d1, uint32_t d2, trace_now_t low,
                            uint32_t code)
{
    uint64_t now = trace_clock_whole(cpu, low);
    uint32_t index;

    if (!cpu->on || cpu->busy || cpu->obtained || !log_switch_is_usual(cpu, (uint32_t)now) ||
        now <= trace_clock_last(cpu) || !ring_take_free(&cpu->ring, &index)) {
        return false;
    }
    log_switch_begin(cpu);
    cpu->time_ahead = false;
    log_switch_open(cpu, true, index, (uint32_t)(now >> 32), (uint32_t)now, code, d1, d2);
    return true;
}

/*
 * Counts the loss of an event while every buffer is READY or BUSY, which may last long, as
 * log_slow() does. The demand changes only by whole buffers.
 */
bool log_lost_again(struct trace_cpu *cpu, unsigned slot_class)
{
    const struct trace_ring *ring = &cpu->ring;

    if (!cpu->loss.reasons) { /* the first loss takes the slow path */
        return false;
    }
    if (cpu->end || cpu->obtained || !cpu->on || cpu->busy || trace_ring_free(ring) != 0 ||
        ring->overwrite || ring->policy != TRACE_LINEAR) {
        return false;
    }
    if (cpu->loss.pending[KYMO_DROP_NOBUFFER][slot_class]++ == 0) {
        cpu->loss.classes[KYMO_DROP_NOBUFFER] |= 1u << slot_class;
        cpu->loss.reasons |= 1u << KYMO_DROP_NOBUFFER;
    }
    cpu->missed_slots++;
    if (cpu->missed_slots % TRACE_BUFFER_SLOTS == 1) {
        log_note_demand(cpu);
    }
    cpu->losing = true;
    return true;
}

/* Handles the usual cases. Returns false, with nothing done, in any other. */
static inline bool log_next_usual(struct trace_cpu *cpu, uint32_t d1, uint32_t d2, trace_now_t now,
                                  uint32_t code)
{
    if (!cpu->full) {
        return !cpu->end && (log_lost_again(cpu, code >> TRACE_CLASS_SHIFT) ||
                             log_switch_none(cpu, d1, d2, now, code));
    }
    if (log_switch_full(cpu, d1, d2, (uint32_t)now, code)) {
        TRACE_PORT_REQUEST_EXIT(cpu);
        return true;
    }
    return log_switch_ring(cpu, d1, d2, (uint32_t)now, code);
}

void log_next(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t packed)
{
    if (log_next_usual(trace_port_cpu(), d1, d2, now, TRACE_PACKED_CODE(packed))) {
        trace_port_irq_restore(packed);
    } else {
        log_slow(d1, d2, now, packed);
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's slow path: everything that is not "put four words at the cursor". Own CPU,
 * interrupts masked, from any context; the entry points of cross-calls also under the kernel lock.
 * A nested event (only possible from the port's functions or a fault) finds `busy` and is counted
 * as RECURSIVE. Described in docs/ring.md; proof: test/unit/test_log.c, test_overrun.c.
 */
#include "trace/log.h"

#include "trace/clock.h"
#include "trace/loss.h"
#include "trace/trace.h"

static void put(struct trace_cpu *cpu, unsigned event, uint64_t stamp, uint32_t d1, uint32_t d2)
{
    struct trace_slot *slot = cpu->cursor;

    slot->header =
        TRACE_HEADER(0, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, event) | TRACE_PORT_CPU_BITS(cpu);
    slot->time = (uint32_t)stamp;
    slot->d1 = d1;
    slot->d2 = d2;
    cpu->cursor = slot + 1;
}

static struct trace_slot *buffer_start(const struct trace_cpu *cpu)
{
    return (struct trace_slot *)trace_ring_data(&cpu->ring, cpu->ring.active);
}

static bool is_active(const struct trace_cpu *cpu)
{
    return cpu->end != NULL;
}

/* Where the slow path is due next: see trace_log2(). */
static void set_limit(struct trace_cpu *cpu)
{
    struct trace_slot *limit = cpu->end;

    if (limit && !cpu->passed_mark) {
        limit = buffer_start(cpu) + cpu->high_water;
    }
    cpu->limit = cpu->time_ahead || cpu->filled || !cpu->on ? NULL : limit;
}

static void no_buffer(struct trace_cpu *cpu)
{
    uint32_t last = cpu->cursor[-1].time;

    cpu->none[0].time = last;
    cpu->cursor = &cpu->none[1];
    cpu->end = NULL;
    cpu->limit = NULL;
}

static void close_buffer(struct trace_cpu *cpu)
{
    struct trace_buffer *buffer = &cpu->ring.buffers[cpu->ring.active];
    struct trace_slot *start = buffer_start(cpu);
    uint32_t slots = (uint32_t)(cpu->cursor - start);

    start->d2 = slots;
    buffer->used = slots * TRACE_SLOT_BYTES;
    __builtin_memcpy(buffer->count, cpu->count, sizeof(cpu->count));
    __builtin_memset(cpu->count, 0, sizeof(cpu->count));
    no_buffer(cpu);
    trace_ring_close(&cpu->ring);
    if (cpu->ring.policy == TRACE_LINEAR) {
        cpu->request = true;
    }
}

static void open_buffer(struct trace_cpu *cpu, uint32_t index)
{
    struct trace_buffer *buffer = &cpu->ring.buffers[index];
    uint32_t dropped = cpu->loss.reasons ? trace_loss_slots(&cpu->loss) : 0;
    uint64_t stamp = trace_clock_stamp(cpu, 2 + dropped);
    uint32_t reason_class, events;

    trace_ring_begin(&cpu->ring, index);
    cpu->cursor = buffer_start(cpu);
    cpu->end = cpu->cursor + TRACE_BUFFER_SLOTS;
    cpu->passed_mark = cpu->ring.policy != TRACE_LINEAR;
    buffer->dropped_slots = dropped;
    put(cpu, TRACE_CONTROL_BUFFER, stamp, cpu->ring.sequence, 0);
    stamp++;
    put(cpu, TRACE_CONTROL_TIME, stamp, (uint32_t)(stamp >> 32), (uint32_t)stamp);
    trace_clock_set_high(cpu, stamp);
    while (dropped-- && trace_loss_next(&cpu->loss, &reason_class, &events)) {
        put(cpu, TRACE_CONTROL_DROPPED, ++stamp, reason_class, events);
    }
}

/* How many buffers more would have been needed until now. */
static void note_demand(struct trace_cpu *cpu)
{
    uint32_t missed = (cpu->missed_slots + TRACE_BUFFER_SLOTS - 1) / TRACE_BUFFER_SLOTS;

    trace_ring_demand(&cpu->ring, cpu->ring.run + missed);
}

/* Gets the next buffer and opens it. False: there is none, by the policy. */
static bool next_buffer(struct trace_cpu *cpu)
{
    struct trace_ring *ring = &cpu->ring;
    bool ring_policy = ring->policy == TRACE_RING;
    bool reuse = ring_policy || (ring->policy == TRACE_LINEAR && ring->overwrite);
    bool any = reuse || trace_ring_free(ring);
    uint32_t index;

    if (is_active(cpu) && (any || cpu->cursor == cpu->end)) {
        close_buffer(cpu);
    }
    switch (any ? trace_ring_obtain(ring, reuse, &index) : TRACE_FOUND_NOTHING) {
    case TRACE_FOUND_NOTHING:
        return false;
    case TRACE_FOUND_READY:
        ring->run += !ring_policy;
        note_demand(cpu);
        trace_loss_buffer(cpu, index, ring_policy ? 0 : KYMO_DROP_OVERWRITTEN);
        break;
    case TRACE_FOUND_FREE:
        cpu->missed_slots = 0;
        break;
    }
    open_buffer(cpu, index);
    return true;
}

static void drop(struct trace_cpu *cpu, unsigned reason, unsigned class, unsigned slots)
{
    trace_loss_add(&cpu->loss, reason, class, 1);
    if (reason == KYMO_DROP_NOBUFFER) {
        cpu->missed_slots += slots;
        note_demand(cpu);
    }
}

static bool room(struct trace_cpu *cpu, unsigned slots)
{
    return (size_t)(cpu->end - cpu->cursor) >= slots;
}

/* Room for the event and, if the high word has changed, for TIME before it. NULL: counted. */
static struct trace_slot *find_room(struct trace_cpu *cpu, unsigned class, unsigned slots)
{
    if (slots > TRACE_LOG_MAX_SLOTS) {
        drop(cpu, KYMO_DROP_TOOBIG, class, slots);
        return NULL;
    }
    uint64_t stamp = trace_clock_stamp(cpu, 0);
    bool time = stamp >> 32 != cpu->time_high;

    if (cpu->filled) {
        drop(cpu, KYMO_DROP_FILLED, class, slots);
        return NULL;
    }
    if (!is_active(cpu) || !room(cpu, slots + time)) {
        if (!next_buffer(cpu)) {
            cpu->filled = cpu->ring.policy == TRACE_FILL;
            cpu->request |= cpu->filled;
            drop(cpu, cpu->filled ? KYMO_DROP_FILLED : KYMO_DROP_NOBUFFER, class, slots);
            return NULL;
        }
        stamp = trace_clock_last(cpu) + 1;
    } else if (time) {
        stamp = trace_clock_stamp(cpu, 1);
        put(cpu, TRACE_CONTROL_TIME, stamp, (uint32_t)(stamp >> 32), (uint32_t)stamp);
        trace_clock_set_high(cpu, stamp);
        stamp++;
    }
    cpu->cursor->time = (uint32_t)stamp;
    return cpu->cursor;
}

static void check_mark(struct trace_cpu *cpu, unsigned slots)
{
    if (!cpu->passed_mark && cpu->cursor + slots > buffer_start(cpu) + cpu->high_water) {
        cpu->passed_mark = true;
        cpu->request = true;
    }
}

/* The slots at the cursor with their time set in the first, or NULL if the event is not recorded.
 */
static struct trace_slot *reserve(struct trace_cpu *cpu, unsigned class, unsigned slots)
{
    if (cpu->busy) {
        trace_loss_recursive(cpu, class);
        return NULL;
    }
    if (!cpu->on) {
        return NULL;
    }
    cpu->busy = true;
    cpu->limit = NULL;
    struct trace_slot *slot = find_room(cpu, class, slots);
    TRACE_YIELD_POINT("reserve");
    if (slot) {
        check_mark(cpu, slots);
    }
    if (cpu->nested) {
        trace_loss_fold(cpu);
    }
    cpu->busy = false;
    set_limit(cpu);
    return slot;
}

/* Unmasks, and only then asks for the kernel's exit, which may take its time or trace. */
static void finish(struct trace_cpu *cpu, uintptr_t irq)
{
    bool request = cpu->request && !cpu->busy;

    if (request) {
        cpu->request = false;
    }
    trace_port_irq_restore(irq);
    if (request) {
        trace_port_request_exit();
    }
}

void trace_log_slow(uint32_t d1, uint32_t d2, uint32_t code, uintptr_t irq)
{
    struct trace_cpu *cpu = trace_port_cpu();
    unsigned class = code >> TRACE_CLASS_SHIFT;
    struct trace_slot *slot = reserve(cpu, class, 1);

    if (slot) {
        slot->header = code | TRACE_PORT_CPU_BITS(cpu);
        slot->d1 = d1;
        slot->d2 = d2;
        cpu->count[class]++;
        cpu->cursor = slot + 1;
    }
    finish(cpu, irq);
}

/* Word i of the event's words and text, which follow each other; 0 behind them. */
static uint32_t word_at(const struct trace_words *w, unsigned i)
{
    uint32_t word = 0;

    if (i < w->nwords) {
        return w->words[i];
    }
    unsigned from = (i - w->nwords) * 4;
    if (from < w->text_bytes) {
        unsigned left = w->text_bytes - from;

        for (unsigned k = 0; k < (left < 4 ? left : 4); k++) {
            word |= (uint32_t)(uint8_t)w->text[from + k] << (8 * k);
        }
    }
    return word;
}

static uint32_t structure(unsigned i, unsigned slots)
{
    if (slots == 1) {
        return TRACE_STRUCT_S;
    }
    return i == 0 ? TRACE_STRUCT_CB : i + 1 == slots ? TRACE_STRUCT_CE : TRACE_STRUCT_CC;
}

void trace_log_words(unsigned class, unsigned event, const struct trace_words *words)
{
    unsigned text_words = words->text ? words->text_bytes / 4 + 1 : 0;
    unsigned slots = (words->nwords + text_words + 1) / 2;
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();

    slots = slots ? slots : 1;
    struct trace_slot *slot = reserve(cpu, class, slots);
    if (slot) {
        uint32_t time = slot->time;

        for (unsigned i = 0; i < slots; i++) {
            slot[i].header =
                TRACE_HEADER(0, structure(i, slots), class, event) | TRACE_PORT_CPU_BITS(cpu);
            slot[i].time = time;
            slot[i].d1 = word_at(words, 2 * i);
            slot[i].d2 = word_at(words, 2 * i + 1);
        }
        cpu->count[class]++;
        cpu->cursor = slot + slots;
    }
    finish(cpu, irq);
}

void trace_log_start(struct trace_cpu *cpu)
{
    cpu->on = true;
    cpu->filled = false;
    set_limit(cpu);
}

void trace_log_flush(struct trace_cpu *cpu)
{
    if (is_active(cpu)) {
        close_buffer(cpu);
    }
}

/* What is still pending goes into the stream if a FREE buffer is there for it. */
void trace_log_stop(struct trace_cpu *cpu)
{
    uint32_t index;

    trace_log_flush(cpu);
    if (cpu->on && cpu->loss.reasons &&
        trace_ring_obtain(&cpu->ring, false, &index) == TRACE_FOUND_FREE) {
        open_buffer(cpu, index);
        close_buffer(cpu);
    }
    cpu->on = false;
    cpu->limit = NULL;
}

void trace_log_clear(struct trace_cpu *cpu)
{
    trace_log_stop(cpu);
    for (uint32_t i = 0; i < cpu->ring.count; i++) {
        if (TRACE_WORD_STATE(cpu->ring.buffers[i].word) == TRACE_READY) {
            trace_loss_buffer(cpu, i, KYMO_DROP_DISCARDED);
            trace_ring_discard(&cpu->ring, i);
        }
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's less simple cases. Own CPU, interrupts masked, any context. Each case of a simple
 * event within a buffer (TIME before it, equal stamps, the high-water mark) has a short fast path
 * here, which a board's budget counts; all other cases, and longer events, take the slow path,
 * which handles everything. A nested event there (only possible from the port's functions or a
 * fault) finds `busy` and is counted as RECURSIVE. Described in docs/inside/ring.md; proof:
 * test/trace/log_test.c, clock_test.c, random_test.c.
 */
#include "abi/compiler.h"
#include "trace/assert.h"
#include "trace/log_buffer.h"
#include "trace/loss.h"
#include "trace/trace.h"

static void log_drop(struct trace_cpu *cpu, unsigned reason, unsigned slot_class, unsigned slots)
{
    trace_loss_add(&cpu->loss, reason, slot_class, 1);
    if (reason == KYMO_DROP_NOBUFFER) {
        log_missed(cpu, slots);
    }
}

/* Finds room for the event and, if the high word has changed, for a TIME before it. Returns NULL if
 * there is none, which is counted; or, with *again set, if a buffer has been opened, or has begun
 * to be opened: a buffer switch is a step of its own, however long the event is. */
static struct trace_slot *find_room(struct trace_cpu *cpu, unsigned slot_class, unsigned slots,
                                    bool *again)
{
    if (slots > TRACE_EVENT_SLOTS_MOST) {
        log_drop(cpu, KYMO_DROP_TOOBIG, slot_class, slots);
        return NULL;
    }
    uint64_t stamp = trace_clock_stamp(cpu, 0);
    bool time = stamp >> 32 != cpu->time_high;

    if (cpu->filled) {
        log_drop(cpu, KYMO_DROP_FILLED, slot_class, slots);
        return NULL;
    }
    if (!cpu->end || (size_t)(cpu->end - cpu->cursor) < slots + time) {
        if (!log_next_buffer(cpu)) {
            cpu->filled = cpu->ring.policy == TRACE_FILL;
            cpu->request |= cpu->filled;
            log_drop(cpu, cpu->filled ? KYMO_DROP_FILLED : KYMO_DROP_NOBUFFER, slot_class, slots);
            return NULL;
        }
        *again = true;
        return NULL;
    }
    if (time) {
        stamp = trace_clock_stamp(cpu, 1);
        cpu->cursor = log_put_time(cpu, cpu->cursor, (uint32_t)(stamp >> 32), (uint32_t)stamp);
        stamp++;
    }
    trace_assert(TRACE_WORD_STATE(cpu->ring.buffers[cpu->ring.active].word) ==
                 TRACE_ACTIVE);                    /* I2: no slot of another changes */
    trace_assert(cpu->cursor + slots <= cpu->end); /* I5: it doesn't straddle buffers */
    trace_assert(stamp > trace_clock_last(cpu));   /* I4: times increase */
    cpu->cursor->time = (uint32_t)stamp;
    return cpu->cursor;
}

/* Reserves slots: *found is NULL if the event is not recorded. If a buffer must be opened for them,
 * does one step of that and returns false: the caller calls this again. A nested event finds busy
 * set. */
static bool log_reserve_step(struct trace_cpu *cpu, unsigned slot_class, unsigned slots,
                             struct trace_slot **found)
{
    bool again = log_opening(cpu);
    struct trace_slot *slot = NULL;

    trace_assert(trace_port_irq_masked());
    cpu->busy = true;
    cpu->losing = false;
    cpu->limit = cpu->full = NULL;
    if (again) {
        log_open_step(cpu);
    } else {
        slot = find_room(cpu, slot_class, slots, &again);
    }
    TRACE_YIELD_POINT("reserve");
    if (slot && cpu->due != cpu->end && cpu->cursor + slots > cpu->due) {
        cpu->due = cpu->end; /* it passes the high-water mark */
        cpu->request = true;
    }
    if (cpu->nested) {
        trace_loss_add_recursive(cpu);
    }
    cpu->busy = false;
    log_set_limit(cpu);
    *found = slot;
    return !again;
}

/*
 * Returns the reserved slots at the cursor, with the time set in the first, or NULL if the event is
 * not recorded. irq: the caller's state. After each step interrupts may run and record events,
 * which may fill the buffer that was opened for this event: then another buffer is opened, in the
 * end without windows.
 */
static struct trace_slot *log_reserve(struct trace_cpu *cpu, unsigned slot_class, unsigned slots,
                                      uintptr_t irq)
{
    struct trace_slot *slot = NULL;

    for (unsigned windows = LOG_OPEN_STEPS_MOST;; windows -= windows > 0) {
        if (cpu->busy) {
            trace_loss_recursive(cpu, slot_class);
            return NULL;
        }
        if (!cpu->on) {
            return NULL;
        }
        if (log_reserve_step(cpu, slot_class, slots, &slot)) {
            return slot;
        }
        if (windows > 0) {
            trace_port_irq_window(irq);
        }
    }
}

static void log_finish(struct trace_cpu *cpu, uintptr_t irq)
{
    if (cpu->request && !cpu->busy) {
        cpu->request = false;
        TRACE_PORT_REQUEST_EXIT(cpu);
    }
    trace_port_irq_restore(irq);
}

void log_slow(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t packed)
{
    struct trace_cpu *cpu = trace_port_cpu();
    uint32_t code = TRACE_PACKED_CODE(packed);

    (void)now;
    /* a clock beyond the latest TIME's wrap */
    if (log_lost_again(cpu, code >> TRACE_CLASS_SHIFT)) {
        trace_port_irq_restore(packed);
        return;
    }
    struct trace_slot *slot =
        log_reserve(cpu, code >> TRACE_CLASS_SHIFT, 1, TRACE_PACKED_IRQ(packed));
    if (slot) {
        log_put_simple(cpu, slot, code, slot->time, d1, d2);
    }
    log_finish(cpu, TRACE_PACKED_IRQ(packed));
}

/* Records the event that fills the buffer up to the high-water mark. While limit differs from full,
 * all other events leave a slot for it. */
void trace_log_limit(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t packed)
{
    struct trace_cpu *cpu = trace_port_cpu();
    struct trace_slot *limit = cpu->limit, *slot = cpu->cursor;

    if (!limit) { /* and then so is full */
        if (likely(log_lost(cpu, TRACE_PACKED_CODE(packed) >> TRACE_CLASS_SHIFT))) {
            trace_port_irq_restore(packed);
        } else {
            log_next(d1, d2, now, packed);
        }
        return;
    }
    struct trace_slot *full = cpu->full;
    if (limit == full) {
        log_next(d1, d2, now, packed);
        return;
    }
    cpu->limit = cpu->due = full;
    log_put_simple(cpu, slot, TRACE_PACKED_CODE(packed), (uint32_t)now, d1, d2);
    TRACE_PORT_REQUEST_EXIT(cpu);
    trace_port_irq_restore(packed);
}

/* After a wrap TIME is written first; the high-water mark, and a slot for it, are then left to the
 * next event. Otherwise the event shares the previous one's tick. */
void trace_log_time(uint32_t d1, uint32_t d2, trace_now_t now, uintptr_t packed)
{
    struct trace_cpu *cpu = trace_port_cpu();
    struct trace_slot *slot = cpu->cursor;
    struct trace_slot *full = cpu->full;
    uint32_t time = (uint32_t)now;

    if (likely(trace_clock_over(cpu, now))) {
        if (slot + 2 >= full || (TRACE_PORT_CLOCK_BITS != 32 && time == UINT32_MAX)) {
            log_slow(d1, d2, now, packed);
            return;
        }
        slot = log_put_time(cpu, slot, trace_clock_high(cpu, now), time);
    } else {
        time = slot[-1].time;
        if (slot >= cpu->limit || time == UINT32_MAX) {
            log_slow(d1, d2, now, packed);
            return;
        }
    }
    log_put_simple(cpu, slot, TRACE_PACKED_CODE(packed), time + 1, d1, d2);
    trace_port_irq_restore(packed);
}

/* For 32-bit clocks: see trace/clock.h. With limit NULL the next event checks the time itself. */
void trace_clock_wrapped(struct trace_cpu *cpu)
{
    uint64_t now = trace_clock_now(cpu);
    uint64_t last = trace_clock_last(cpu);

    if (!cpu->limit || now <= last || (now >> 32 == cpu->time_high && (now - last) >> 31 == 0)) {
        return;
    }
    if (cpu->cursor + 1 < cpu->full) {
        cpu->cursor = log_put_time(cpu, cpu->cursor, (uint32_t)(now >> 32), (uint32_t)now);
    } else {
        cpu->limit = cpu->full = NULL;
    }
}

/*
 * Reserves slots if two tests show the common case, as trace_log2() does for one slot: the slots
 * end before the limit, and the time is above the previous stamp. Otherwise returns NULL, and the
 * caller uses log_reserve().
 */
TRACE_INLINE struct trace_slot *log_reserve_usual(struct trace_cpu *cpu, unsigned slots,
                                                  uint32_t *time)
{
    trace_now_t now = TRACE_NOW();
    struct trace_slot *slot = cpu->cursor;

    if (trace_log_time_special(cpu, slot, now)) {
        return NULL;
    }
    if ((uintptr_t)(slot + slots) > (uintptr_t)cpu->limit) {
        return NULL;
    }
    *time = (uint32_t)now;
    return slot;
}

/* Reserves slots in any case. Returns NULL if the event is not recorded. */
TRACE_INLINE struct trace_slot *log_reserve_any(struct trace_cpu *cpu, unsigned slot_class,
                                                unsigned slots, uint32_t *time, uintptr_t irq)
{
    struct trace_slot *slot = NULL;

    if (likely(slots <= TRACE_EVENT_SLOTS_MOST)) {
        slot = log_reserve_usual(cpu, slots, time);
    }
    if (unlikely(!slot)) {
        slot = log_reserve(cpu, slot_class, slots, irq);
        *time = slot ? slot->time : 0;
    }
    return slot;
}

/* Returns the structure bits of slot i of an event. */
TRACE_INLINE uint32_t log_structure(unsigned i, unsigned slots)
{
    if (slots == 1) {
        return TRACE_STRUCT_S;
    }
    return i == 0 ? TRACE_STRUCT_CB : i + 1 == slots ? TRACE_STRUCT_CE : TRACE_STRUCT_CC;
}

TRACE_INLINE void log_commit(struct trace_cpu *cpu, struct trace_slot *end, unsigned slot_class)
{
    cpu->count[slot_class]++;
    __asm__ volatile("" ::: "memory"); /* after a crash no event is found half written */
    cpu->cursor = end;
}

void trace_log4(uint32_t code, const uint32_t words[4])
{
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();
    uint32_t time, header = TRACE_PORT_HEADER(cpu, code);
    struct trace_slot *slot = log_reserve_any(cpu, code >> TRACE_CLASS_SHIFT, 2, &time, irq);

    if (likely(slot)) {
        slot = trace_port_put(slot, header | TRACE_STRUCT_CB, time, words[0], words[1]);
        slot = trace_port_put(slot, header | TRACE_STRUCT_CE, time, words[2], words[3]);
        log_commit(cpu, slot, code >> TRACE_CLASS_SHIFT);
    }
    log_finish(cpu, irq);
}

bool trace_log_slots(uint32_t code, const uint32_t *words, unsigned slots)
{
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();
    uint32_t time, header = TRACE_PORT_HEADER(cpu, code);
    struct trace_slot *slot = log_reserve_any(cpu, code >> TRACE_CLASS_SHIFT, slots, &time, irq);

    if (likely(slot)) {
        const uint32_t *last = words + 2 * (slots - 1);
        uint32_t part = TRACE_STRUCT_CB;
        struct trace_slot *at = slot;

        for (; words < last; words += 2) { /* all but the last, at most TRACE_EVENT_SLOTS_MOST */
            at = trace_port_put(at, header | part, time, words[0], words[1]);
            part = TRACE_STRUCT_CC;
        }
        part = slots == 1 ? TRACE_STRUCT_S : TRACE_STRUCT_CE;
        at = trace_port_put(at, header | part, time, last[0], last[1]);
        log_commit(cpu, at, code >> TRACE_CLASS_SHIFT);
    }
    log_finish(cpu, irq);
    return slot != NULL;
}

/* Returns the word of a text's bytes from `from` on, padded with zeros. */
static inline uint32_t log_text_word(const char *text, unsigned from, unsigned bytes)
{
    uint32_t word = 0;

    if (from + sizeof(word) <= bytes) {
        __builtin_memcpy(&word, text + from, sizeof(word));
        return word;
    }
    for (unsigned k = 0; from + k < bytes; k++) {
        word |= (uint32_t)(uint8_t)text[from + k] << (8 * k);
    }
    return word;
}

/* Returns word i of the event's words and the text that follows, or 0 after the text. */
static inline uint32_t log_word_at(const struct trace_words *w, unsigned i)
{
    return i < w->nwords ? w->words[i] : log_text_word(w->text, (i - w->nwords) * 4, w->text_bytes);
}

/* Returns the number of slots from the first one on, except the last, that contain only bytes of a
 * text, or only words. */
static inline unsigned log_plain_slots(const struct trace_words *w, unsigned slots)
{
    unsigned plain = w->text ? w->text_bytes / 8 : w->nwords / 2;

    return w->text && w->nwords ? 0 : plain < slots ? plain : slots - 1;
}

/* Writes a slot of 8 bytes, which may have any alignment. */
TRACE_INLINE struct trace_slot *log_put_plain(struct trace_slot *slot, uint32_t header,
                                              uint32_t time, const char *from)
{
    uint32_t d1, d2;

    __builtin_memcpy(&d1, from, sizeof(d1));
    __builtin_memcpy(&d2, from + sizeof(d1), sizeof(d2));
    return trace_port_put(slot, header, time, d1, d2);
}

bool trace_log_words(unsigned slot_class, unsigned event, const struct trace_words *words)
{
    unsigned text_words = words->text ? words->text_bytes / 4 + 1 : 0;
    unsigned slots = (words->nwords + text_words + 1) / 2;
    uint32_t code = slot_class << TRACE_CLASS_SHIFT | event;
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();
    uint32_t time, header = TRACE_PORT_HEADER(cpu, code);

    slots = slots ? slots : 1;
    struct trace_slot *slot = log_reserve_any(cpu, slot_class, slots, &time, irq);
    if (slot) {
        struct trace_slot *at = slot;
        unsigned i = 0, plain = log_plain_slots(words, slots);

        if (plain > 1) { /* copies most of a long event, quickly: interrupts are masked */
            const char *from = words->text ? words->text : (const char *)words->words;

            at = log_put_plain(at, header | TRACE_STRUCT_CB, time, from);
#pragma GCC unroll 4
            for (i = 1; i < plain; i++) {
                from += 8;
                at = log_put_plain(at, header | TRACE_STRUCT_CC, time, from);
            }
        }
        for (; i < slots; i++) {
            at = trace_port_put(at, header | log_structure(i, slots), time,
                                log_word_at(words, 2 * i), log_word_at(words, 2 * i + 1));
        }
        log_commit(cpu, at, slot_class);
    }
    log_finish(cpu, irq);
    return slot != NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judges one buffer in retained memory: complete, being written, or damaged. The seal is the best
 * evidence: it has a CRC of its own. The state word has none; it gives the intended sequence, and
 * the buffer's own first slot must agree. Without a seal the slots count as far as they can be
 * consecutive output of a kernel.
 */
#include "lib/retain/judge.h"
#include "lib/retain/sum.h"

#define STATE(word) ((word)&3u)
#define SEQUENCE(word) ((word) >> 2)
#define RESERVED ~(TRACE_EVENT_MASK | TRACE_CLASS_MASK | TRACE_CPU_MASK | TRACE_STRUCT_MASK)
/* The bits that the slots of an event share and that identify it. */
#define WHAT (TRACE_CLASS_MASK | TRACE_EVENT_MASK | TRACE_STATE_DUMP)

/* ---- possible slots ---------------------------------------------------------------- */

struct slots_walk {
    uint32_t cpu;
    uint32_t open; /* WHAT of the combine event in progress; 0: none is */
    uint64_t time; /* of the last slot */
};

/* Checks TIME and DROPPED; BUFFER is allowed at the beginning only. */
static bool control_fits(const struct trace_slot *slot)
{
    switch (TRACE_GET_EVENT(slot->header)) {
    case TRACE_CONTROL_TIME:
        return slot->d2 == slot->time;
    case TRACE_CONTROL_DROPPED:
        return slot->d1 >> 8 > 0 && slot->d1 >> 8 < KYMO_TRACE_REASONS &&
               (slot->d1 & 0xff) < KYMO_TRACE_CLASSES;
    default:
        return false;
    }
}

static bool event_begins(struct slots_walk *walk, const struct trace_slot *slot)
{
    uint32_t what = slot->header & WHAT;
    bool control = TRACE_GET_CLASS(slot->header) == TRACE_CLASS_CONTROL;
    uint32_t high = (uint32_t)(walk->time >> 32);

    if (control && (TRACE_GET_STRUCT(slot->header) != TRACE_STRUCT_S || !control_fits(slot))) {
        return false;
    }
    if (control && TRACE_GET_EVENT(slot->header) == TRACE_CONTROL_TIME) {
        high = slot->d1;
    }
    uint64_t time = (uint64_t)high << 32 | slot->time;
    if (walk->open || time <= walk->time) {
        return false;
    }
    walk->time = time;
    walk->open = TRACE_GET_STRUCT(slot->header) == TRACE_STRUCT_CB ? what : 0;
    return true;
}

static bool slot_fits(struct slots_walk *walk, const struct trace_slot *slot)
{
    uint32_t structure = TRACE_GET_STRUCT(slot->header), class = TRACE_GET_CLASS(slot->header);
    bool known = (class >= TRACE_CLASS_CONTROL && class <= TRACE_CLASS_COMM) ||
                 class == TRACE_CLASS_D || class == TRACE_CLASS_KYMO_CALL;

    /* A state dump has events of these two classes only. */
    uint32_t mark =
        class == TRACE_CLASS_PR_TH || class == TRACE_CLASS_SYSTEM ? TRACE_STATE_DUMP : 0;

    if ((slot->header & RESERVED & ~mark) || TRACE_GET_CPU(slot->header) != walk->cpu || !known) {
        return false;
    }
    if (structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CB) {
        return event_begins(walk, slot);
    }
    if (walk->open != (slot->header & WHAT) || slot->time != (uint32_t)walk->time) {
        return false;
    }
    walk->open = structure == TRACE_STRUCT_CE ? 0 : walk->open;
    return true;
}

uint32_t retain_plausible(const struct trace_slot *slots, uint32_t count, uint32_t cpu,
                          uint32_t sequence, uint64_t *time)
{
    struct slots_walk walk = {.cpu = cpu, .time = *time};
    uint32_t whole = 2;

    if (count < 2 || slots[0].header != RETAIN_CONTROL(cpu, TRACE_CONTROL_BUFFER) ||
        slots[0].d1 != sequence || slots[1].header != RETAIN_CONTROL(cpu, TRACE_CONTROL_TIME) ||
        slots[0].time >= slots[1].time ||
        ((uint64_t)slots[1].d1 << 32 | slots[0].time) <= walk.time ||
        !slot_fits(&walk, &slots[1])) {
        return 0;
    }
    *time = walk.time;
    for (uint32_t i = 2; i < count && slot_fits(&walk, &slots[i]); i++) {
        if (!walk.open) {
            whole = i + 1;
            *time = walk.time;
        }
    }
    return whole;
}

/* ---- seals and state words --------------------------------------------------------- */

static uint32_t retain_judge_buffer_number(const struct retain *retain, uint32_t i)
{
    return retain->cpu * retain->header.ring.per_cpu + i;
}

/* Returns a word of its descriptor, `at` bytes after the state word. */
static uint32_t table_word(struct retain *retain, uint32_t i, uint32_t at)
{
    const struct kymo_retain_ring *ring = &retain->header.ring;
    uint32_t word = 0;
    int error = retain->read(
        retain->arg, ring->words + retain->cpu * ring->table_step + i * ring->word_step + at, &word,
        sizeof(word));

    return error ? 0 : word;
}

static uint32_t retain_judge_buffer_word(struct retain *retain, uint32_t i)
{
    return table_word(retain, i, 0);
}

static uint32_t used_of(struct retain *retain, uint32_t i)
{
    return table_word(retain, i, sizeof(uint32_t));
}

/* Returns false if the buffer has no seal, or a damaged one. */
static bool retain_judge_buffer_mark(struct retain *retain, uint32_t i,
                                     struct kymo_retain_mark *mark)
{
    uint32_t number = retain_judge_buffer_number(retain, i);
    uint32_t offset = retain->header.ring.marks + number * (uint32_t)sizeof(*mark);

    if (retain->read(retain->arg, offset, mark, sizeof(*mark)) != 0) {
        return false;
    }
    uint32_t crc = crc32c_add(CRC32C_START, &number, sizeof(number));
    crc = ~crc32c_add(crc, mark, offsetof(struct kymo_retain_mark, crc));
    return mark->crc == crc && mark->sequence != 0 && mark->slots >= 2 &&
           mark->slots <= retain->buffer_slots;
}

uint32_t retain_offset(const struct retain *retain, uint32_t i)
{
    return retain->header.ring.buffers +
           retain_judge_buffer_number(retain, i) * retain->header.ring.buffer_bytes;
}

uint32_t retain_candidate(struct retain *retain, uint32_t i)
{
    struct kymo_retain_mark mark;
    struct trace_slot first;
    uint32_t word = retain_judge_buffer_word(retain, i);

    if (retain->read(retain->arg, retain_offset(retain, i), &first, sizeof(first)) == 0 &&
        retain_judge_buffer_mark(retain, i, &mark) && first.d1 == mark.sequence) {
        return word == 0 && used_of(retain, i) == 0 ? 0 : mark.sequence;
    }
    if (STATE(word) == KYMO_RETAIN_FREE_BUFFER) {
        if (word != 0) { /* no kernel writes this */
            retain_give_up(retain, NULL);
        }
        return 0;
    }
    return SEQUENCE(word);
}

bool retain_is_taken(struct retain *retain, uint32_t i, uint32_t sequence)
{
    uint32_t word = retain_judge_buffer_word(retain, i);

    return STATE(word) == KYMO_RETAIN_FREE_BUFFER ||
           (STATE(word) == KYMO_RETAIN_BUSY && SEQUENCE(word) == sequence);
}

/* Returns the slots in the ACTIVE buffer by its CPU's cursor; 0: the cursor isn't in it. */
static uint32_t by_cursor(const struct retain *retain, uint32_t i)
{
    uint64_t cursor =
        retain->walk[retain->cpu].state.cursor - retain->header.base - retain_offset(retain, i);

    return cursor % TRACE_SLOT_BYTES == 0 && cursor <= retain->header.ring.buffer_bytes
               ? (uint32_t)(cursor / TRACE_SLOT_BYTES)
               : 0;
}

void retain_give_up(struct retain *retain, const struct kymo_retain_mark *mark)
{
    retain->losses.buffers++;
    retain->losses.unknown += mark == NULL;
    for (unsigned class = 0; mark && class < KYMO_TRACE_CLASSES; class ++) {
        retain_here(retain)->state.pending[KYMO_DROP_UNWRITTEN][class] += mark->events[class];
    }
}

/* Judges a buffer without a seal that should hold `count` slots. */
static uint32_t retain_judge_unsealed(struct retain *retain, uint32_t count, uint32_t sequence,
                                      uint64_t *time)
{
    struct trace_slot *slots = retain->slots;
    uint32_t whole = count <= retain->buffer_slots
                         ? retain_plausible(slots, count, retain->cpu, sequence, time)
                         : 0;

    if (whole == 0 || whole != count) {
        retain_give_up(retain, NULL);
    }
    slots[0].d2 = whole;
    return whole;
}

/* Judges a buffer whose word's sequence was started, and possibly closed. */
static uint32_t by_word(struct retain *retain, uint32_t i, uint32_t word, uint64_t *time)
{
    const struct trace_slot *first = retain->slots;
    uint32_t sequence = SEQUENCE(word);
    bool opened =
        first->d1 == sequence && first->header == RETAIN_CONTROL(retain->cpu, TRACE_CONTROL_BUFFER);
    uint32_t count = by_cursor(retain, i);

    if (STATE(word) != KYMO_RETAIN_ACTIVE) {
        bool agreed = opened && first->d2 * TRACE_SLOT_BYTES == used_of(retain, i);

        return retain_judge_unsealed(retain, agreed ? first->d2 : 0, sequence, time);
    }
    if (opened && first->d2 != 0) { /* it was being closed; the cursor is at its end, or has left */
        bool agreed = count == 0 || count == first->d2 || !retain_here(retain)->state_known;

        return retain_judge_unsealed(retain, agreed ? first->d2 : 0, sequence, time);
    }
    if (count >= 2 || !retain_here(retain)->state_known) {
        return retain_judge_unsealed(retain, opened ? count : 0, sequence, time);
    }
    return 0; /* it is still empty */
}

static bool is_sealed(const struct retain *retain, const struct kymo_retain_mark *mark,
                      uint64_t *time)
{
    const struct trace_slot *slots = retain->slots;

    return slots[0].d2 == mark->slots &&
           retain_crc(slots, mark->slots * TRACE_SLOT_BYTES) == mark->data_crc &&
           retain_plausible(slots, mark->slots, retain->cpu, mark->sequence, time) == mark->slots;
}

static uint32_t retain_judge_buffer(struct retain *retain, uint32_t i, uint64_t *time)
{
    uint32_t sequence = retain_here(retain)->sequences[i],
             word = retain_judge_buffer_word(retain, i);
    bool same = STATE(word) != KYMO_RETAIN_FREE_BUFFER && SEQUENCE(word) == sequence;
    struct kymo_retain_mark mark;
    uint64_t before = *time;

    retain_here(retain)->sequences[i] = 0;
    if (retain->read(retain->arg, retain_offset(retain, i), retain->slots,
                     retain->header.ring.buffer_bytes) != 0) {
        retain_give_up(retain, NULL);
        return 0;
    }
    if (!retain_judge_buffer_mark(retain, i, &mark) || mark.sequence != sequence) {
        return same ? by_word(retain, i, word, time) : 0;
    }
    if (is_sealed(retain, &mark, time)) {
        return mark.slots;
    }
    *time = before;
    if (!same && STATE(word) != KYMO_RETAIN_FREE_BUFFER && SEQUENCE(word) > sequence) {
        retain_here(retain)->sequences[i] = SEQUENCE(word); /* it was being reused */
    } else {
        retain_give_up(retain, &mark);
    }
    return 0;
}

/* Of a buffer that was being overwritten, or discarded, the first DROPPED slots may be pending
 * again: each of them counts once. */
static void taken_back(struct retain *retain, uint32_t i, uint32_t sequence, uint32_t count)
{
    uint32_t word = retain_judge_buffer_word(retain, i), back = table_word(retain, i, 8) >> 16;

    if (STATE(word) == KYMO_RETAIN_FREE_BUFFER || SEQUENCE(word) != sequence) {
        return;
    }
    for (uint32_t k = 2; back > 0 && k < count; back--, k++) {
        const struct trace_slot *slot = &retain->slots[k];
        if (slot->header != RETAIN_CONTROL(retain->cpu, TRACE_CONTROL_DROPPED)) {
            return;
        }
        uint64_t *pending = &retain_here(retain)->state.pending[slot->d1 >> 8][slot->d1 & 0xff];
        *pending -= slot->d2 < *pending ? slot->d2 : *pending;
    }
}

uint32_t retain_judge(struct retain *retain, uint32_t i, uint64_t *time)
{
    uint32_t sequence = retain_here(retain)->sequences[i];
    uint32_t count = retain_judge_buffer(retain, i, time);

    taken_back(retain, i, sequence, count);
    return count;
}

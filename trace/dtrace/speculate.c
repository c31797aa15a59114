/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The states of speculations, and moving their records. See speculate.h. Transitions are one
 * compare-and-swap each; the CPU that loses tries again, at most once per CPU.
 *
 * All accesses to a state are relaxed, because a state publishes nothing: each CPU alone reads and
 * writes its buffers, also when they are cleaned. The cross-calls of the cleaner order its marks
 * before the visits, and the visits before the state becomes INACTIVE. Tested with CPUs that are
 * threads by test/trace/dtrace/speculate_threads_test.c.
 */
#include "abi/compiler.h"
#include "trace/assert.h"
#include "trace/atomic.h"
#include "trace/dtrace/counter.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/speculate.h"

#define STATE(word) ((word)&0x7f)
#define MARK 0x80u /* the cleaner has seen it */

static uint32_t speculate_look(const struct dtrace_speculation *s)
{
    return trace_atomic_load(&s->state, __ATOMIC_RELAXED);
}

static bool speculate_change(struct dtrace_speculation *s, uint32_t from, uint32_t to)
{
    return trace_atomic_cas(&s->state, from, to, __ATOMIC_RELAXED);
}

uint32_t dtrace_speculation_new(struct dtrace_speculations *all)
{
    bool waiting = false;

    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t word = speculate_look(&all->all[i]);
        if (word == DTRACE_SPEC_INACTIVE &&
            speculate_change(&all->all[i], word, DTRACE_SPEC_ACTIVE)) {
            return i + 1;
        }
        waiting |= STATE(word) >= DTRACE_SPEC_COMMITTING;
    }
    dtrace_count(waiting ? &all->busy : &all->none);
    return 0;
}

struct dtrace_buffer *dtrace_speculation_buffer(struct dtrace_speculations *all, uint64_t id,
                                                unsigned cpu)
{
    if (id == 0 || id > all->count) {
        return NULL;
    }
    struct dtrace_speculation *s = &all->all[id - 1];
    for (;;) {
        uint32_t word = speculate_look(s), next = DTRACE_SPEC_ONE | cpu << 8;
        if (STATE(word) == DTRACE_SPEC_MANY || word == next) {
            return &s->buffers[cpu];
        }
        if (STATE(word) == DTRACE_SPEC_ONE) {
            next = DTRACE_SPEC_MANY;
        } else if (STATE(word) != DTRACE_SPEC_ACTIVE) {
            return NULL;
        }
        if (speculate_change(s, word, next)) {
            return &s->buffers[cpu];
        }
    }
}

/* Each record that doesn't fit the principal buffer is counted as its drop. Records get the current
 * time, because data already taken from that buffer must not be newer (dtrace_snap.taken). */
static void move_records(struct dtrace_buffer *from, struct dtrace_buffer *to,
                         const struct dtrace_shapes *shapes)
{
    uint64_t now = dtrace_port_timestamp();

    for (size_t at = 0; at < from->offset;) {
        uint32_t epid;
        __builtin_memcpy(&epid, from->active + at, sizeof(epid));
        if (epid == 0 || epid > shapes->count) {
            at += sizeof(epid);
            continue;
        }
        const struct dtrace_shape *shape = &shapes->shape[epid - 1];
        trace_assert(shape->size <= from->offset - at);
        uint8_t *record = dtrace_buffer_reserve(to, shapes, shape->size, shape->align, false);
        if (record) {
            struct dtrace_record head = {epid, (uint32_t)(now >> 32), (uint32_t)now};
            __builtin_memcpy(record, from->active + at, shape->size);
            __builtin_memcpy(record, &head, sizeof(head));
            dtrace_buffer_commit(to, record, shape->size);
        }
        at += shape->size;
    }
    from->offset = 0;
}

/* Changes any state in use to `to`. Returns false if the speculation is not in use. */
static bool speculate_finish(struct dtrace_speculation *s, uint32_t to)
{
    uint32_t word = speculate_look(s);

    while (STATE(word) >= DTRACE_SPEC_ACTIVE && STATE(word) <= DTRACE_SPEC_MANY) {
        if (speculate_change(s, word, to)) {
            return true;
        }
        word = speculate_look(s);
    }
    return false;
}

bool dtrace_speculation_commit(struct dtrace_speculations *all, uint64_t id, unsigned cpu,
                               struct dtrace_buffer *to, const struct dtrace_shapes *shapes)
{
    if (id == 0) {
        return true;
    }
    if (id > all->count) {
        return false;
    }
    struct dtrace_speculation *s = &all->all[id - 1];
    if (speculate_finish(s, DTRACE_SPEC_COMMITTING)) {
        move_records(&s->buffers[cpu], to, shapes);
    }
    return true;
}

bool dtrace_speculation_discard(struct dtrace_speculations *all, uint64_t id)
{
    if (id != 0 && id <= all->count) {
        speculate_finish(&all->all[id - 1], DTRACE_SPEC_DISCARDING);
    }
    return id <= all->count;
}

COLD bool dtrace_speculation_clean_begin(struct dtrace_speculations *all)
{
    bool any = false;

    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t word = speculate_look(&all->all[i]);
        if (STATE(word) >= DTRACE_SPEC_COMMITTING) {
            any |= speculate_change(&all->all[i], word, word | MARK);
        }
    }
    return any;
}

COLD void dtrace_speculation_clean_cpu(struct dtrace_speculations *all, unsigned cpu,
                                       struct dtrace_buffer *to, const struct dtrace_shapes *shapes)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct dtrace_speculation *s = &all->all[i];
        uint32_t word = speculate_look(s);
        if (word == (DTRACE_SPEC_COMMITTING | MARK)) {
            move_records(&s->buffers[cpu], to, shapes);
        } else if (word == (DTRACE_SPEC_DISCARDING | MARK)) {
            s->buffers[cpu].offset = 0;
        }
    }
}

COLD void dtrace_speculation_clean_end(struct dtrace_speculations *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (speculate_look(&all->all[i]) & MARK) {
            trace_atomic_store(&all->all[i].state, DTRACE_SPEC_INACTIVE, __ATOMIC_RELAXED);
        }
    }
}

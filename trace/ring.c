/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The states of one CPU's buffers. See trace/ring.h for contexts and locks, docs/inside/ring.md for
 * why no step can lose or tear a buffer; proof: test/trace/ring_test.c, interleave_test.c.
 */
#include "abi/errno.h"
#include "trace/assert.h"
#include "trace/atomic.h"
#include "trace/ring_writer.h"

static size_t ring_align8(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

size_t trace_ring_table_bytes(unsigned count)
{
    return sizeof(struct trace_names) + ring_align8(count * sizeof(struct trace_buffer)) +
           2 * ring_align8(count * sizeof(uint16_t));
}

void trace_ring_init(struct trace_ring *ring, uint8_t *base, unsigned count, unsigned buffer_bytes,
                     void *tables)
{
    uint8_t *table = (uint8_t *)tables + sizeof(struct trace_names);

    trace_assert(base && tables && count > 0 && count <= UINT16_MAX);
    trace_assert(((uintptr_t)tables & 7) == 0);
    *ring = (struct trace_ring){.policy = ring->policy, .overwrite = ring->overwrite};
    ring->base = base;
    ring->count = count;
    ring->buffer_bytes = buffer_bytes;
    ring->buffers = (struct trace_buffer *)table;
    table += ring_align8(count * sizeof(struct trace_buffer));
    ring->free_queue = (uint16_t *)table;
    ring->by_sequence = (uint16_t *)(table + ring_align8(count * sizeof(uint16_t)));
    for (unsigned i = 0; i < count; i++) {
        ring->free_queue[i] = (uint16_t)i;
    }
    ring->free_tail = count;
    ring->active = TRACE_NONE;
    ring->oldest = 1;
}

/* READY sequences are the latest ones, so at most count are between oldest and the last. Taken ones
 * are skipped at once: the loop meets at most one, which is just being taken. */
static bool take_oldest(struct trace_ring *ring, uint32_t *index)
{
    uint32_t from = ring->oldest, taken = trace_atomic_load(&ring->taken, __ATOMIC_RELAXED);

    if ((int32_t)(taken + 1 - from) > 0) {
        from = taken + 1;
    }
    for (uint32_t s = from; s - 1 != ring->sequence; s++) {
        uint32_t i = ring->by_sequence[s % ring->count];

        ring->oldest = s + 1;
        TRACE_YIELD_POINT("overwrite");
        if (trace_atomic_cas(&ring->buffers[i].word, TRACE_WORD(s, TRACE_READY),
                             TRACE_WORD(s, TRACE_ACTIVE), __ATOMIC_ACQ_REL)) {
            *index = i;
            return true;
        }
    }
    return false;
}

enum trace_found trace_ring_obtain(struct trace_ring *ring, bool reuse, uint32_t *index)
{
    if (ring_take_free(ring, index)) {
        ring->run = 0;
        return TRACE_FOUND_FREE;
    }
    if (reuse && take_oldest(ring, index)) {
        ring->overwritten++;
        return TRACE_FOUND_READY;
    }
    /* All READY buffers may have been taken, and returned, since the queue was found empty. */
    if (reuse && ring_take_free(ring, index)) {
        ring->run = 0;
        return TRACE_FOUND_FREE;
    }
    return TRACE_FOUND_NOTHING;
}

void trace_ring_begin(struct trace_ring *ring, uint32_t index)
{
    ring_begin(ring, index);
}

void trace_ring_demand(struct trace_ring *ring, uint32_t more)
{
    ring_demand(ring, ring->active != TRACE_NONE, more);
}

void trace_ring_close(struct trace_ring *ring)
{
    ring_close(ring);
}

/* Returns the lowest sequence up to `last` that may be READY. */
static uint32_t lowest_ready(const struct trace_ring *ring, uint32_t last)
{
    uint32_t s = ring->taken + 1;

    return last + 1 - s > ring->count ? last + 1 - ring->count : s;
}

uint32_t trace_ring_oldest(const struct trace_ring *ring)
{
    uint32_t last = trace_atomic_load(&ring->sequence, __ATOMIC_ACQUIRE);

    for (uint32_t s = lowest_ready(ring, last); s - 1 != last; s++) {
        uint32_t i = *(volatile uint16_t *)&ring->by_sequence[s % ring->count];

        if (trace_atomic_load(&ring->buffers[i].word, __ATOMIC_ACQUIRE) ==
            TRACE_WORD(s, TRACE_READY)) {
            return i;
        }
    }
    return TRACE_NONE;
}

uint32_t trace_ring_take(struct trace_ring *ring)
{
    uint32_t last = trace_atomic_load(&ring->sequence, __ATOMIC_ACQUIRE);

    for (uint32_t s = lowest_ready(ring, last); s - 1 != last; s++) {
        uint32_t i = *(volatile uint16_t *)&ring->by_sequence[s % ring->count];

        TRACE_YIELD_POINT("take");
        if (trace_atomic_cas(&ring->buffers[i].word, TRACE_WORD(s, TRACE_READY),
                             TRACE_WORD(s, TRACE_BUSY), __ATOMIC_ACQ_REL)) {
            trace_assert((int32_t)(s - ring->taken) > 0);
            trace_atomic_store(&ring->taken, s, __ATOMIC_RELAXED);
            return i;
        }
    }
    return TRACE_NONE;
}

static void put_free(struct trace_ring *ring, uint32_t index)
{
    uint32_t in = ring->free_in;

    trace_assert(TRACE_WORD_STATE(ring->buffers[index].word) != TRACE_FREE);
    trace_assert(trace_ring_free(ring) < ring->count);
    ring->buffers[index].word = TRACE_WORD(0, TRACE_FREE);
    ring->free_queue[in] = (uint16_t)index;
    ring->free_in = in + 1 == ring->count ? 0 : in + 1;
    TRACE_YIELD_POINT("give");
    trace_atomic_store(&ring->free_tail, ring->free_tail + 1, __ATOMIC_RELEASE);
}

int trace_ring_give(struct trace_ring *ring, uint32_t index)
{
    if (index >= ring->count || TRACE_WORD_STATE(ring->buffers[index].word) != TRACE_BUSY) {
        return -EINVAL;
    }
    put_free(ring, index);
    return 0;
}

void trace_ring_discard(struct trace_ring *ring, uint32_t index)
{
    trace_assert(TRACE_WORD_STATE(ring->buffers[index].word) != TRACE_BUSY);
    if (ring->active == index) {
        ring->active = TRACE_NONE;
    }
    ring->buffers[index].used = 0; /* for a reader after a reset: counted as lost */
    put_free(ring, index);
}

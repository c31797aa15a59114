/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer's operations of trace/ring.h as inlines, for the log's buffer switch, whose cost is
 * limited by a board's budget; trace/ring.c wraps them in functions for all other callers. Own CPU,
 * interrupts masked. Tested by test/trace/ring_test.c, interleave_test.c.
 */
#ifndef TRACE_RING_WRITER_H
#define TRACE_RING_WRITER_H

#include "trace/assert.h"
#include "trace/atomic.h"
#include "trace/port.h"
#include "trace/ring.h"

static inline bool ring_take_free(struct trace_ring *ring, uint32_t *index)
{
    uint32_t head = ring->free_head;

    if (head == trace_atomic_load(&ring->free_tail, __ATOMIC_ACQUIRE)) {
        return false;
    }
    uint32_t out = ring->free_out;
    *index = ring->free_queue[out];
    trace_assert(*index < ring->count);
    trace_assert(TRACE_WORD_STATE(ring->buffers[*index].word) == TRACE_FREE);
    ring->free_out = out + 1 == ring->count ? 0 : out + 1;
    TRACE_YIELD_POINT("free taken");
    trace_atomic_store(&ring->free_head, head + 1, __ATOMIC_RELEASE);
    return true;
}

/* Makes the buffer ACTIVE. Returns its sequence. */
static inline uint32_t ring_begin(struct trace_ring *ring, uint32_t index)
{
    uint32_t count = ring->count;
    uint32_t sequence = ring->sequence + 1;

    trace_assert(ring->active == TRACE_NONE && index < count);
    trace_assert(TRACE_WORD_STATE(ring->buffers[index].word) == TRACE_FREE ||
                 TRACE_WORD_STATE(ring->buffers[index].word) == TRACE_ACTIVE);
    ring->by_sequence[sequence % count] = (uint16_t)index;
    ring->buffers[index].word = TRACE_WORD(sequence, TRACE_ACTIVE);
    ring->active = index;
    trace_atomic_store(&ring->sequence, sequence, __ATOMIC_RELEASE);
    if (sequence - ring->oldest >= count) {
        ring->oldest = sequence - count + 1;
    }
    return sequence;
}

/* active: whether there is an ACTIVE buffer. */
static inline void ring_demand(struct trace_ring *ring, bool active, uint32_t more)
{
    uint32_t used = ring->count - trace_ring_free(ring) - active;

    if (used + more > ring->ready_most) {
        ring->ready_most = used + more;
    }
}

static inline void ring_close(struct trace_ring *ring)
{
    uint32_t index = ring->active;
    uint32_t sequence = ring->sequence;

    trace_assert(index < ring->count);
    trace_assert(ring->buffers[index].word == TRACE_WORD(sequence, TRACE_ACTIVE));
    ring->closed_sequence = sequence;
    ring->active = TRACE_NONE;
    TRACE_YIELD_POINT("close");
    trace_atomic_store(&ring->buffers[index].word, TRACE_WORD(sequence, TRACE_READY),
                       __ATOMIC_RELEASE);
    ring_demand(ring, false, ring->run);
}

#endif

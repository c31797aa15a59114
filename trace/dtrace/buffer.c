/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The three policies of a principal buffer. Under ring the records are in [oldest, offset), or,
 * once it has wrapped, in [oldest, end) and [0, offset) with offset <= oldest.
 */
#include "trace/dtrace/buffer.h"
#include "trace/atomic.h"

#include "trace/assert.h"

static size_t buffer_align_up(size_t n, uint32_t align)
{
    return (n + align - 1) & ~(size_t)(align - 1);
}

/* Zeroes the alignment gap between records: EPID 0. */
static uint8_t *record_at(struct dtrace_buffer *b, size_t from, size_t start)
{
    __builtin_memset(b->active + from, 0, start - from);
    return b->active + start;
}

/* The first record that doesn't fit ends recording; but one larger than the buffer is only a
 * drop. */
static uint8_t *reserve_fill(struct dtrace_buffer *b, size_t size, uint32_t align, bool at_end)
{
    size_t limit = b->size - (at_end ? 0 : b->reserve);
    size_t start = buffer_align_up(b->offset, align);

    if (size > limit) {
        b->drops++;
        return NULL;
    }
    if ((b->full && !at_end) || start > limit || size > limit - start) {
        b->full = true;
        b->filled_drops++;
        return NULL;
    }
    return record_at(b, b->offset, start);
}

/* In retained memory any store may be the last one: the state between two stores must be
 * readable. */
static inline void buffer_in_order(void)
{
    trace_atomic_fence(__ATOMIC_SEQ_CST);
}

static uint8_t *reserve_ring(struct dtrace_buffer *b, const struct dtrace_shapes *shapes,
                             size_t size, uint32_t align)
{
    size_t from = b->offset, start = buffer_align_up(from, align);

    if (size > b->size) {
        b->drops++;
        return NULL;
    }
    if (start > b->size || size > b->size - start) {
        if (b->end) { /* drops the rest of the previous lap: only the newest lap remains */
            b->oldest = 0;
        }
        buffer_in_order();
        b->end = b->offset;
        buffer_in_order();
        b->offset = from = start = 0;
        b->laps++;
    }
    if (b->end) {
        /* Drops the oldest records of the previous lap as far as this one reaches, and the gaps
         * between them: at most one step for each 4 bytes. */
        while (b->oldest < start + size && b->oldest < b->end) {
            uint32_t epid;
            __builtin_memcpy(&epid, b->active + b->oldest, sizeof(epid));
            b->oldest +=
                epid == 0 || epid > shapes->count ? sizeof(epid) : shapes->shape[epid - 1].size;
        }
        if (b->oldest >= b->end) { /* none remains */
            b->oldest = 0;
            b->end = 0;
        }
    }
    trace_assert(start + size <= (b->end ? b->oldest : b->size));
    return record_at(b, from, start);
}

/* Handles all cases except the next bytes of the active half. */
uint8_t *dtrace_buffer_reserve_else(struct dtrace_buffer *b, const struct dtrace_shapes *shapes,
                                    size_t size, uint32_t align, bool at_end)
{
    switch (b->policy) {
    case DTRACE_POLICY_FILL:
        return reserve_fill(b, size, align, at_end);
    case DTRACE_POLICY_RING:
        return reserve_ring(b, shapes, size, align);
    default: /* switch: no room */
        b->drops++;
        return NULL;
    }
}

uint8_t *dtrace_buffer_scratch(const struct dtrace_buffer *b, size_t after, size_t *size)
{
    size_t start = b->policy == DTRACE_POLICY_SWITCH ? buffer_align_up(after, 8) : 0;

    if (start >= b->size) {
        *size = 0;
        return b->active;
    }
    *size = b->size - start;
    return (b->policy == DTRACE_POLICY_SWITCH ? b->active : b->spare) + start;
}

const uint8_t *dtrace_buffer_swap(struct dtrace_buffer *b, size_t *size)
{
    uint8_t *read = b->active;

    *size = b->offset;
    b->active = b->spare;
    b->spare = read;
    b->offset = 0;
    return read;
}

size_t dtrace_buffer_parts(const struct dtrace_buffer *b, struct dtrace_parts *parts)
{
    size_t old = b->end ? b->end - b->oldest : 0;

    *parts = (struct dtrace_parts){{b->active + b->oldest, b->active}, {old, b->offset}};
    return old + b->offset;
}

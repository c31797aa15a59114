/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A principal buffer: the records of one CPU for one consumer, under its policy. Records are
 * reserved, filled in place and committed by one store; an uncommitted record is never visible. Own
 * CPU, no other probe firing on it. Tested by test/trace/dtrace against a naive model.
 */
#ifndef TRACE_DTRACE_BUFFER_H
#define TRACE_DTRACE_BUFFER_H

#include "trace/assert.h"
#include "trace/atomic.h"
#include "trace/dtrace/dtrace.h"
#include "trace/dtrace/image.h"

/* Layout of the records with one EPID. */
struct dtrace_shape {
    uint32_t size;  /* bytes, header included */
    uint32_t align; /* 4 or 8 */
};
struct dtrace_shapes {
    const struct dtrace_shape *shape; /* [I] by EPID - 1 */
    uint32_t count;
};

struct dtrace_buffer {
    uint8_t *active;           /* [c] NULL: this CPU records nothing */
    uint8_t *spare;            /* [c] switch: the half not being recorded to; otherwise scratch */
    size_t size;               /* [I] bytes of each */
    size_t reserve;            /* [I] fill: bytes kept for END */
    size_t offset;             /* [c] end of the last record */
    size_t oldest;             /* [c] ring: the oldest record */
    size_t end;                /* [c] ring: end of the last record before the wrap; 0: no wrap */
    enum dtrace_policy policy; /* [I] */
    bool full;                 /* [c] fill: a record did not fit */
    uint16_t laps;             /* [c] ring: number of wraps, modulo 2^16 */
    uint64_t drops;            /* [c] records without room, since the previous snap */
    uint64_t filled_drops;     /* [c] fill: records dropped after it became full */
    uint64_t errors;           /* [c] faults, since the previous snap */
};

/* Reserves a record of `size` bytes at `align` (4 or 8), filling the gap before it with EPID 0.
 * Returns NULL if there is no room, which is counted. at_end: END's clauses may use the fill
 * policy's reserve. */
uint8_t *dtrace_buffer_reserve_else(struct dtrace_buffer *, const struct dtrace_shapes *,
                                    size_t size, uint32_t align, bool at_end);
/* Fast path of the above: reserves the next bytes of the active half, under switch. Returns NULL if
 * the case isn't that simple, with nothing counted. Records consist of whole words, so the gap
 * before one is a word or nothing. */
static inline uint8_t *dtrace_buffer_next(struct dtrace_buffer *b, size_t size, uint32_t align)
{
    size_t gap = b->offset & (align - 4), start = b->offset + gap;

    if (b->policy != DTRACE_POLICY_SWITCH || start + size > b->size) {
        return NULL;
    }
    if (gap) {
        __builtin_memset(b->active + b->offset, 0, 4);
    }
    return b->active + start;
}
static inline uint8_t *dtrace_buffer_reserve(struct dtrace_buffer *b,
                                             const struct dtrace_shapes *shapes, size_t size,
                                             uint32_t align, bool at_end)
{
    uint8_t *record = dtrace_buffer_next(b, size, align);

    return record ? record : dtrace_buffer_reserve_else(b, shapes, size, align, at_end);
}
static inline void dtrace_buffer_commit(struct dtrace_buffer *b, const uint8_t *record, size_t size)
{
    trace_assert(record >= b->active && record + size <= b->active + b->size);
    trace_atomic_fence(__ATOMIC_RELEASE); /* in retained memory this may be the last store */
    b->offset = (size_t)(record - b->active) + size;
}

/* Returns the scratch space of a clause that needs `after` bytes for records: the tail under
 * switch. Aligned to 8. */
uint8_t *dtrace_buffer_scratch(const struct dtrace_buffer *, size_t after, size_t *size);

/* Swaps the halves (switch); returns the one to read, and its size in bytes. */
const uint8_t *dtrace_buffer_swap(struct dtrace_buffer *, size_t *size);
/* Returns all records of a fill or ring buffer, oldest first, and their size in bytes. */
size_t dtrace_buffer_parts(const struct dtrace_buffer *, struct dtrace_parts *);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aggregation buffers: per CPU, a hash table of entries, each with a key and a value to which every
 * probe firing adds its datum. Each CPU has two halves, swapped when the consumer takes one; the
 * consumer merges the results of all CPUs and snapshots. Own CPU, no other probe firing on it. The
 * merging law is tested by test/dtrace.
 */
#ifndef TRACE_DTRACE_AGGREGATE_H
#define TRACE_DTRACE_AGGREGATE_H

#include "trace/dtrace/action.h"

#include <stdbool.h>
#include <stddef.h>

struct dtrace_action;

/* An aggregating action of an ECB. */
struct dtrace_aggregation {
    uint32_t id;                /* [I] */
    uint32_t epid;              /* [I] */
    uint32_t variable;          /* [I] */
    uint16_t kind;              /* [I] DTRACE_AGG_* */
    uint16_t nkeys;             /* [I] */
    uint32_t value;             /* [I] offset of the value in an entry */
    uint32_t size;              /* [I] bytes of an entry */
    uint64_t shape;             /* [I] lquantize's, llquantize's arg */
    struct dtrace_action *keys; /* [I] */
    struct dtrace_recdesc rec;  /* [I] of the value */
    struct dtrace_kept *kept;   /* [I] if kind has DTRACE_AGG_KEPT: retained.h */
};

struct dtrace_aggbuf {
    uint8_t *active;       /* [c] entries; NULL: this CPU doesn't aggregate */
    uint8_t *spare;        /* [c] the half being read */
    uint32_t *heads;       /* [c] offset + 1 of the first entry of a chain; 0: none */
    uint32_t *spare_heads; /* [k] heads of the other half */
    uint32_t chains;       /* [I] a power of two */
    size_t limit;   /* [I] bytes that entries may use; there is room for one more after them */
    size_t used;    /* [c] */
    uint64_t drops; /* [c] since the previous snap */
};

/* Returns the address where the next entry's key is written, or NULL if there is no buffer. A
 * string only needs zero padding up to the next multiple of 8 from its field's start. */
static inline uint8_t *dtrace_agg_entry(const struct dtrace_aggbuf *b)
{
    return b->active ? b->active + b->used : NULL;
}
/* Returns the value of the entry whose key was just written at `entry`: that of an existing entry
 * with this key, or of this one, which then becomes part of the buffer. Returns NULL if there is no
 * room, which is counted as a drop. */
uint64_t *dtrace_agg_find(struct dtrace_aggbuf *, const struct dtrace_aggregation *,
                          uint8_t *entry);
/* Empties the table that will be used after the next swap. Done in control context in advance, so
 * that swapping a large table takes no longer. */
void dtrace_agg_ready(struct dtrace_aggbuf *);
const uint8_t *dtrace_agg_swap(struct dtrace_aggbuf *, size_t *size);

/* The aggregating functions. data: the value's words. */
void dtrace_agg_init(const struct dtrace_aggregation *, uint64_t *data);
void dtrace_agg_update(const struct dtrace_aggregation *, uint64_t *data, uint64_t value,
                       uint64_t weight);
/* Updates an entry in retained memory: the kind has DTRACE_AGG_KEPT (retained.c). */
void dtrace_kept_update(const struct dtrace_aggregation *, uint64_t *data, uint64_t value,
                        uint64_t weight);
unsigned dtrace_quantize_bucket(int64_t value);
unsigned dtrace_lquantize_bucket(uint64_t shape, int64_t value);
unsigned dtrace_llquantize_bucket(uint64_t shape, int64_t value);

#endif

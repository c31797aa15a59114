/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aggregation buffers: per CPU, a hash table of entries, each a key and a value that every firing
 * folds its datum into. Two halves per CPU, swapped when the consumer takes one; it merges what all
 * CPUs and all times gave. On its own CPU with nothing else firing there. Merging law tested by
 * test/d.
 */
#ifndef TRACE_DTRACE_AGGREGATE_H
#define TRACE_DTRACE_AGGREGATE_H

#include "trace/dtrace/action.h"

#include <stdbool.h>
#include <stddef.h>

struct dtrace_action;

/* One aggregating action of an ECB. */
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
    struct dtrace_recdesc rec;  /* [I] the value's */
    struct dtrace_kept *kept;   /* [I] with DTRACE_AGG_KEPT in kind: retained.h */
};

struct dtrace_aggbuf {
    uint8_t *active;       /* [c] entries; NULL: this CPU doesn't aggregate */
    uint8_t *spare;        /* [c] the half that is being read */
    uint32_t *heads;       /* [c] offset + 1 of the first entry of a chain; 0: none */
    uint32_t *spare_heads; /* [k] of the other half */
    uint32_t chains;       /* [I] a power of two */
    size_t limit;          /* [I] entries may fill this much; behind it is room for one more */
    size_t used;           /* [c] */
    uint64_t drops;        /* [c] since the last snap */
};

/* Bytes of the value of an aggregating function; 0: no such function. */
uint32_t dtrace_agg_value_size(uint16_t kind, uint64_t shape);
/* Where the next entry's key is to be written; NULL: no buffer. A string need only be followed by
 * zeros to the next multiple of 8 from its field's start. */
static inline uint8_t *dtrace_agg_entry(const struct dtrace_aggbuf *b)
{
    return b->active ? b->active + b->used : NULL;
}
/* The value of the entry that has the key just written at `entry`: of an old one, or of this, which
 * then becomes part of the buffer. NULL: there is no room for it, and that was counted. */
uint64_t *dtrace_agg_find(struct dtrace_aggbuf *, const struct dtrace_aggregation *,
                          uint8_t *entry);
/* Before it is swapped: empties the table that will be used then. Control context, so that swapping
 * takes no longer for a large one. */
void dtrace_agg_ready(struct dtrace_aggbuf *);
const uint8_t *dtrace_agg_swap(struct dtrace_aggbuf *, size_t *size);

/* The functions by themselves. data: the value's words. */
void dtrace_agg_init(const struct dtrace_aggregation *, uint64_t *data);
void dtrace_agg_update(const struct dtrace_aggregation *, uint64_t *data, uint64_t value,
                       uint64_t weight);
/* The same of a kind with DTRACE_AGG_KEPT (retained.c). */
void dtrace_kept_update(const struct dtrace_aggregation *, uint64_t *data, uint64_t value,
                        uint64_t weight);
unsigned dtrace_quantize_bucket(int64_t value);
unsigned dtrace_lquantize_bucket(uint64_t shape, int64_t value);
unsigned dtrace_llquantize_bucket(uint64_t shape, int64_t value);
unsigned dtrace_llquantize_buckets(uint64_t shape);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aggregations in the consumer: what the target's CPUs aggregated, merged by key, sorted, and
 * reduced to numbers. Knows no output and no target. Internal to host/dtrace.
 */
#ifndef HOST_DTRACE_AGGREGATION_AGGREGATION_H
#define HOST_DTRACE_AGGREGATION_AGGREGATION_H

#include "host/dt/dt.h"

/* The entry of a key. data: a whole entry as the machine made it (struct dtrace_agg_entry, keys,
 * value). The bytes after a string key's NUL and between keys are zero, so keys compare as
 * bytes. */
struct agg_row {
    struct agg_row *next; /* in its hash chain */
    uint64_t hash;
    uint8_t *data;
    uint64_t *value; /* in data */
    uint64_t **cpus; /* -x aggpercpu: each CPU's share, NULL if it has none. NULL: not asked for */
};

struct aggregation {
    const struct dt_aggregation_info *info;
    struct dtrace_recdesc *recs; /* the keys, then the value; NULL until an entry has come */
    uint32_t nrecs;
    struct agg_row **chains;
    size_t nchains, nrows;
    uint64_t normal; /* normalize()'s divisor, 1 at first */
    bool printed;    /* a printa() names it */
    unsigned ncpus;  /* CPUs whose shares are kept; 0: no shares are kept */
};

/* How aggregations are printed, by the options. */
struct agg_style {
    bool quiet, hist, pack, zoom, utf8, pack_utf8;
    bool sort_key, sort_reverse;
    uint64_t sort_key_position, sort_position;
};

/* ---- rows (merge.c) ----------------------------------------------------------------- */

/* Bytes of an entry: its head, keys and value. */
size_t agg_entry_size(const struct aggregation *);
/* Folds an entry of a CPU into the row with the same key. Returns false if there is no memory. */
bool agg_merge(struct aggregation *, const uint8_t *entry, unsigned cpu);
void agg_merge_value(enum dtrace_action_kind, uint64_t *to, const uint64_t *from, size_t words);
/* Sets all values to those of a new row; the keys stay. */
void agg_clear(struct aggregation *);
void agg_remove_all(struct aggregation *);
/* Keeps the n rows with the highest values, or the -n with the lowest, however the options sort. */
void agg_truncate(struct aggregation *, int64_t n, const struct agg_style *);
void agg_free(struct aggregation *);

/* ---- order and numbers (sort.c) ----------------------------------------------------- */

/* The rows of several aggregations joined by key and sorted: *n groups of naggs pointers each,
 * where pointer i is aggregation i's row or NULL. The caller frees the result. Without memory
 * the command ends. */
struct agg_row **agg_join(struct aggregation *const *, unsigned naggs, const struct agg_style *,
                          size_t *n);

/* Applies normalize() to a number. A factor may be negative: the division wraps where it must. */
static inline int64_t agg_divide(int64_t value, uint64_t normal)
{
    return normal == UINT64_MAX ? (int64_t)(0 - (uint64_t)value) : value / (int64_t)normal;
}
/* Returns a row's value as the number by which it is sorted and printed: an average, a standard
 * deviation, the sum of a distribution … */
int64_t agg_number(const struct aggregation *, const struct agg_row *, bool normalized);

/* ---- buckets of a distribution (buckets.c) ------------------------------------------ */

unsigned bucket_count(enum dtrace_action_kind, uint64_t shape);
/* Returns the counts in a value's words: they follow the shape, if there is one. */
const int64_t *bucket_counts(enum dtrace_action_kind, const uint64_t *value);
void bucket_label(enum dtrace_action_kind, uint64_t shape, unsigned bucket, char *to, size_t room);
/* Returns the value that represents the bucket in sums. */
int64_t bucket_value(enum dtrace_action_kind, uint64_t shape, unsigned bucket);
/* The first and the last bucket to print: one more on each side than have counts. */
void bucket_range(enum dtrace_action_kind, uint64_t shape, const int64_t *counts, unsigned *first,
                  unsigned *last);

#endif

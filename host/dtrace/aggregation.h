/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aggregations in the consumer: results of the target's CPUs, merged by key, sorted and printed.
 * Internal to host/dtrace.
 */
#ifndef HOST_DTRACE_AGGREGATION_H
#define HOST_DTRACE_AGGREGATION_H

#include "host/dt/dt.h"

/* The entry of a key. data: a whole entry as the machine made it (struct dtrace_agg_entry, keys,
 * value), string keys zero behind their NUL, so that keys compare as bytes. */
struct agg_row {
    struct agg_row *next; /* in its hash chain */
    uint64_t hash;
    uint8_t *data;
    uint64_t *value; /* in data */
    uint64_t **cpus; /* -x aggpercpu: each CPU's share of it, NULL: none; NULL: not asked for */
};

struct aggregation {
    const struct dt_aggregation_info *info;
    struct dtrace_recdesc *recs; /* the keys', then the value's; NULL: nothing came yet */
    uint32_t nrecs;
    struct agg_row **chains;
    size_t nchains, nrows;
    uint64_t normal; /* normalize()'s divisor, 1 at first */
    bool printed;    /* a printa() names it */
    unsigned ncpus;  /* whose shares are kept; 0: none are */
};

/* How one is printed; from the options. */
struct agg_style {
    bool quiet, hist, pack, zoom, utf8, pack_utf8;
    bool sort_key, sort_reverse;
    uint64_t sort_key_position, sort_position;
};

/* Bytes of an entry: of its head, keys and value. */
size_t agg_entry_size(const struct aggregation *);
/* Folds an entry of a CPU into the aggregation's row with the same key. False: no memory. */
bool agg_merge(struct aggregation *, const uint8_t *entry, unsigned cpu);
void agg_merge_value(enum dtrace_action_kind, uint64_t *to, const uint64_t *from, size_t words);
void agg_clear(struct aggregation *);
void agg_remove_all(struct aggregation *);
/* Keeps the n rows with the highest values, or the -n lowest. */
void agg_truncate(struct aggregation *, int64_t n, const struct agg_style *);
void agg_free(struct aggregation *);

/* The rows of several aggregations joined by key: row[i] of a group is aggregation i's, or NULL. */
struct agg_group {
    struct agg_row *row[1]; /* as many as there are aggregations */
};
/* malloc'ed, sorted; *n groups of naggs pointers each. */
struct agg_row **agg_join(struct aggregation *const *, unsigned naggs, const struct agg_style *,
                          size_t *n);

/* Applies normalize() to a number. A factor may be negative: the division wraps where it must. */
static inline int64_t agg_divide(int64_t value, uint64_t normal)
{
    return normal == UINT64_MAX ? (int64_t)(0 - (uint64_t)value) : value / (int64_t)normal;
}
/* A row's value as one number, as it is sorted and printed: average, deviation, sum of labels … */
int64_t agg_number(const struct aggregation *, const struct agg_row *, bool normalized);

#endif

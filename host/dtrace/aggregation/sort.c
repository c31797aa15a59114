/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of rows: by value, or by key (aggsortkey), of one aggregation or of several that one
 * printa() joins. Values compare as signed numbers, integer keys as unsigned numbers of their size,
 * string keys as bytes. Tested by test/host/dtrace/aggregation/merge_test.c.
 */
#include "host/dtrace/aggregation/aggregation.h"
#include "host/kymo.h"

#include <stdlib.h>
#include <string.h>

struct order {
    struct aggregation *const *aggs;
    unsigned naggs;
    unsigned first_agg, first_key; /* compared first; the others follow, wrapping */
    bool by_key, reverse;
};

/* Returns the standard deviation. value: the count, the sum, the sum of squares. */
static int64_t aggregation_standard_deviation(const uint64_t *value, uint64_t normal)
{
    unsigned __int128 squares = (unsigned __int128)value[3] << 64 | value[2];
    unsigned __int128 root = 0, bit = (unsigned __int128)1 << 126;
    int64_t count = (int64_t)value[0];

    if (count == 0) {
        return 0;
    }
    int64_t mean = agg_divide((int64_t)value[1], normal) / count;
    uint64_t size = mean < 0 ? 0 - (uint64_t)mean : (uint64_t)mean;
    unsigned __int128 square = (unsigned __int128)size * size;
    squares = squares / normal / normal / (uint64_t)count;
    unsigned __int128 rest = squares < square ? 0 : squares - square;
    for (; bit; bit >>= 2) { /* its square root, a digit at a time */
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (int64_t)root;
}

int64_t agg_number(const struct aggregation *a, const struct agg_row *row, bool normalized)
{
    enum dtrace_action_kind kind = a->info->function;
    uint64_t normal = normalized ? a->normal : 1, sum = 0;

    switch (kind) {
    case DTRACE_AGG_AVG:
        return row->value[0] == 0
                   ? 0
                   : agg_divide((int64_t)row->value[1], normal) / (int64_t)row->value[0];
    case DTRACE_AGG_STDDEV:
        return aggregation_standard_deviation(row->value, normal);
    case DTRACE_AGG_QUANTIZE:
    case DTRACE_AGG_LQUANTIZE:
    case DTRACE_AGG_LLQUANTIZE:
        for (unsigned i = 0; i < bucket_count(kind, a->info->shape); i++) {
            sum += (uint64_t)bucket_counts(kind, row->value)[i] *
                   (uint64_t)bucket_value(kind, a->info->shape, i);
        }
        return (int64_t)sum;
    case DTRACE_AGG_COUNT:
        return (int64_t)(row->value[0] / normal);
    default:
        return agg_divide((int64_t)row->value[0], normal);
    }
}

static int aggregation_compare_numbers(int64_t x, int64_t y)
{
    return (x > y) - (x < y);
}

/* A missing row counts as 0. Distributions with the same sum compare by their zero buckets. */
static int compare_values(const struct aggregation *a, const struct agg_row *x,
                          const struct agg_row *y)
{
    enum dtrace_action_kind kind = a->info->function;
    int64_t p = x ? agg_number(a, x, false) : 0, q = y ? agg_number(a, y, false) : 0;

    if (p != q) {
        return kind == DTRACE_AGG_COUNT ? ((uint64_t)p > (uint64_t)q) - ((uint64_t)p < (uint64_t)q)
                                        : aggregation_compare_numbers(p, q);
    }
    if (!x || !y || kind < DTRACE_AGG_QUANTIZE) {
        return 0;
    }
    for (unsigned i = 0; i < bucket_count(kind, a->info->shape); i++) {
        if (bucket_value(kind, a->info->shape, i) == 0) {
            return aggregation_compare_numbers(bucket_counts(kind, x->value)[i],
                                               bucket_counts(kind, y->value)[i]);
        }
    }
    return 0;
}

static uint64_t aggregation_key_number(const uint8_t *p, uint32_t size)
{
    uint64_t value = 0;

    memcpy(&value, p, size);
    return value;
}

/* Returns the index of an aggregation that has a row in the group. All rows of a group have the
 * same key. */
static unsigned member_of(const struct order *o, struct agg_row *const *group)
{
    unsigned i = 0;

    while (i + 1 < o->naggs && !group[i]) {
        i++;
    }
    return i;
}

static int compare_keys(const struct order *o, struct agg_row *const *x, struct agg_row *const *y)
{
    const struct aggregation *a = o->aggs[member_of(o, x)];
    const uint8_t *keys_x = x[member_of(o, x)]->data, *keys_y = y[member_of(o, y)]->data;
    unsigned nkeys = a->nrecs - 1;
    int c = 0;

    for (unsigned i = 0; i < nkeys && c == 0; i++) {
        const struct dtrace_recdesc *r = &a->recs[(o->first_key + i) % nkeys];
        const uint8_t *p = keys_x + r->offset, *q = keys_y + r->offset;
        if (r->size == 1 || r->size == 2 || r->size == 4 || r->size == 8) {
            uint64_t m = aggregation_key_number(p, r->size), n = aggregation_key_number(q, r->size);
            c = (m > n) - (m < n);
        } else {
            c = memcmp(p, q, r->size);
        }
    }
    return c;
}

static int compare_groups(const void *p, const void *q, void *arg)
{
    const struct order *o = arg;
    struct agg_row *const *x = p, *const *y = q;
    int by_key = compare_keys(o, x, y), by_value = 0;

    for (unsigned i = 0; i < o->naggs && by_value == 0; i++) {
        unsigned n = (o->first_agg + i) % o->naggs;
        by_value = compare_values(o->aggs[n], x[n], y[n]);
    }
    int c = o->by_key ? (by_key ? by_key : by_value) : (by_value ? by_value : by_key);
    return o->reverse ? -c : c;
}

/* Makes one group of adjacent groups with the same key. groups is sorted by key; returns how many
 * remain. */
static size_t join_equal(const struct order *o, struct agg_row **groups, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct agg_row **group = &groups[i * o->naggs];
        struct agg_row **last = kept ? &groups[(kept - 1) * o->naggs] : NULL;
        if (last && compare_keys(o, last, group) == 0) {
            for (unsigned k = 0; k < o->naggs; k++) {
                last[k] = last[k] ? last[k] : group[k];
            }
        } else {
            memmove(&groups[kept++ * o->naggs], group, o->naggs * sizeof(*group));
        }
    }
    return kept;
}

struct agg_row **agg_join(struct aggregation *const *aggs, unsigned naggs,
                          const struct agg_style *style, size_t *n)
{
    unsigned nkeys = aggs[0]->info->nkeys;
    struct order order = {
        .aggs = aggs,
        .naggs = naggs,
        .first_agg = style->sort_position < naggs ? (unsigned)style->sort_position : 0,
        .first_key = style->sort_key_position < nkeys ? (unsigned)style->sort_key_position : 0,
        .by_key = true,
    };
    size_t most = 0, rows = 0, bytes = naggs * sizeof(struct agg_row *);

    for (unsigned i = 0; i < naggs; i++) {
        most += aggs[i]->nrows;
    }
    struct agg_row **groups = kymo_memory(calloc(most + 1, bytes));
    *n = 0;
    /* Each row first is a group of its own. */
    for (unsigned k = 0; k < naggs; k++) {
        for (size_t i = 0; i < aggs[k]->nchains; i++) {
            for (struct agg_row *row = aggs[k]->chains[i]; row; row = row->next) {
                groups[rows++ * naggs + k] = row;
            }
        }
    }
    if (naggs > 1) {
        qsort_r(groups, rows, bytes, compare_groups, &order);
        rows = join_equal(&order, groups, rows);
    }
    order.by_key = style->sort_key;
    order.reverse = style->sort_reverse;
    qsort_r(groups, rows, bytes, compare_groups, &order);
    *n = rows;
    return groups;
}

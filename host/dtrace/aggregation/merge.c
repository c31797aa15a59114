/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of an aggregation: a hash table by the bytes of the keys. Results of several CPUs and
 * snapshots are merged, which every aggregating function allows: f(f(a) u f(b)) = f(a u b).
 * Tested by test/host/dtrace/aggregation/merge_test.c.
 */
#include "host/dtrace/aggregation/aggregation.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS_AT = sizeof(struct dtrace_agg_entry) };

static size_t value_offset(const struct aggregation *a)
{
    return a->recs[a->nrecs - 1].offset;
}

static size_t value_words(const struct aggregation *a)
{
    return a->recs[a->nrecs - 1].size / 8;
}

size_t agg_entry_size(const struct aggregation *a)
{
    return value_offset(a) + value_words(a) * 8;
}

void agg_merge_value(enum dtrace_action_kind kind, uint64_t *to, const uint64_t *from, size_t words)
{
    size_t first = kind == DTRACE_AGG_LQUANTIZE || kind == DTRACE_AGG_LLQUANTIZE;

    switch (kind) {
    case DTRACE_AGG_MIN:
        to[0] = (int64_t)from[0] < (int64_t)to[0] ? from[0] : to[0];
        break;
    case DTRACE_AGG_MAX:
        to[0] = (int64_t)from[0] > (int64_t)to[0] ? from[0] : to[0];
        break;
    case DTRACE_AGG_STDDEV:
        to[0] += from[0];
        to[1] += from[1];
        to[2] += from[2]; /* the sum of squares: 128 bits in two words, low first */
        to[3] += from[3] + (to[2] < from[2]);
        break;
    default:
        for (size_t i = first; i < words; i++) {
            to[i] += from[i];
        }
    }
}

static struct agg_row *merge_add_entry(struct aggregation *a, const uint8_t *entry, uint64_t hash)
{
    size_t bytes = agg_entry_size(a);
    struct agg_row *row = malloc(sizeof(*row));
    uint8_t *data = malloc(bytes);

    if (row && data && a->nrows >= a->nchains) { /* twice the chains */
        size_t n = a->nchains ? a->nchains * 2 : 64;
        struct agg_row **chains = calloc(n, sizeof(*chains));
        for (size_t i = 0; chains && i < a->nchains; i++) {
            for (struct agg_row *moved = a->chains[i], *next; moved; moved = next) {
                next = moved->next;
                moved->next = chains[moved->hash % n];
                chains[moved->hash % n] = moved;
            }
        }
        if (chains) {
            free(a->chains);
            a->chains = chains;
            a->nchains = n;
        }
    }
    if (!row || !data || !a->nchains) {
        free(row);
        free(data);
        return NULL;
    }
    row->data = memcpy(data, entry, bytes);
    row->value = (uint64_t *)(row->data + value_offset(a));
    row->cpus = NULL;
    row->hash = hash;
    row->next = a->chains[hash % a->nchains];
    a->chains[hash % a->nchains] = row;
    a->nrows++;
    return row;
}

bool agg_merge(struct aggregation *a, const uint8_t *entry, unsigned cpu)
{
    const uint64_t *value = (const uint64_t *)(entry + value_offset(a));
    size_t bytes = value_offset(a) - KEYS_AT;
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    struct agg_row *row;

    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ entry[KEYS_AT + i]) * 0x100000001b3u;
    }
    row = a->nchains ? a->chains[hash % a->nchains] : NULL;
    while (row && (row->hash != hash || memcmp(row->data + KEYS_AT, entry + KEYS_AT, bytes) != 0)) {
        row = row->next;
    }
    if (row) {
        agg_merge_value(a->info->function, row->value, value, value_words(a));
    } else if (!(row = merge_add_entry(a, entry, hash))) {
        return false;
    }

    /* The CPU's share of the row. */
    if (cpu >= a->ncpus) {
        return true;
    }
    if (!row->cpus && !(row->cpus = calloc(a->ncpus, sizeof(*row->cpus)))) {
        return false;
    }
    if (row->cpus[cpu]) {
        agg_merge_value(a->info->function, row->cpus[cpu], value, value_words(a));
    } else if ((row->cpus[cpu] = malloc(value_words(a) * 8))) {
        memcpy(row->cpus[cpu], value, value_words(a) * 8);
    }
    return row->cpus[cpu] != NULL;
}

static void free_row(const struct aggregation *a, struct agg_row *row)
{
    for (unsigned cpu = 0; row->cpus && cpu < a->ncpus; cpu++) {
        free(row->cpus[cpu]);
    }
    free(row->cpus);
    free(row->data);
    free(row);
}

void agg_clear(struct aggregation *a)
{
    size_t shape =
        a->info->function == DTRACE_AGG_LQUANTIZE || a->info->function == DTRACE_AGG_LLQUANTIZE;
    size_t bytes = a->recs ? (value_words(a) - shape) * 8 : 0;

    for (size_t i = 0; i < a->nchains; i++) {
        for (struct agg_row *row = a->chains[i]; row; row = row->next) {
            memset(row->value + shape, 0, bytes);
            for (unsigned cpu = 0; row->cpus && cpu < a->ncpus; cpu++) {
                if (row->cpus[cpu]) {
                    memset(row->cpus[cpu] + shape, 0, bytes);
                }
            }
        }
    }
}

void agg_remove_all(struct aggregation *a)
{
    for (size_t i = 0; i < a->nchains; i++) {
        for (struct agg_row *row = a->chains[i], *next; row; row = next) {
            next = row->next;
            free_row(a, row);
        }
        a->chains[i] = NULL;
    }
    a->nrows = 0;
}

void agg_truncate(struct aggregation *a, int64_t n, const struct agg_style *style)
{
    struct agg_style by_value = {.sort_key_position = style->sort_key_position};
    uint64_t keep = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    struct aggregation *one = a;
    size_t rows;

    if (keep == 0) {
        agg_remove_all(a);
        return;
    }
    struct agg_row **sorted = agg_join(&one, 1, &by_value, &rows);
    for (size_t i = 0; i < rows && keep < rows; i++) {
        if (n > 0 ? i < rows - keep : i >= keep) {
            struct agg_row **link = &a->chains[sorted[i]->hash % a->nchains];
            while (*link != sorted[i]) {
                link = &(*link)->next;
            }
            *link = sorted[i]->next;
            a->nrows--;
            free_row(a, sorted[i]);
        }
    }
    free(sorted);
}

void agg_free(struct aggregation *a)
{
    agg_remove_all(a);
    free(a->chains);
    free(a->recs);
    a->chains = NULL;
    a->recs = NULL;
    a->nchains = 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aggpack: each key's distribution in one row of cells.
 */
#include "host/dtrace/graph.h"
#include "host/dtrace/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pack {
    unsigned first, last; /* buckets shown */
};

static bool is_used(const struct aggregation *a, const struct agg_row *row, unsigned bucket)
{
    return graph_counts(a->info->function, row->value)[bucket] != 0;
}

/* quantize: from one below the lowest to one above the highest bucket that any key uses. */
static void range_of(const struct aggregation *a, struct agg_row *const *rows, size_t n,
                     struct pack *pack)
{
    unsigned buckets = graph_buckets(a->info->function, a->info->shape);
    unsigned low = buckets, high = 0;

    if (a->info->function == DTRACE_AGG_LQUANTIZE) {
        *pack = (struct pack){.first = 0, .last = buckets - 1};
        return;
    }
    for (size_t i = 0; i < n; i++) {
        for (unsigned b = 0; b < buckets; b++) {
            if (is_used(a, rows[i], b)) {
                low = b < low ? b : low;
                high = b > high ? b : high;
            }
        }
    }
    if (low == buckets) {
        low = high = DTRACE_QUANTIZE_ZERO;
    }
    pack->first = low > 0 && low != DTRACE_QUANTIZE_ZERO ? low - 1 : low;
    pack->last = high + 1 < buckets ? high + 1 : high;
}

static int key_width(const struct dtrace_recdesc *r)
{
    return r->size == 1 ? 3 : r->size == 2 ? 5 : r->size == 4 ? 8 : 16;
}

static void print_heading(const struct printer *p, const struct aggregation *a,
                          const struct pack *pack)
{
    bool linear = a->info->function == DTRACE_AGG_LQUANTIZE;
    char low[32], high[32];
    int width = 0;

    for (unsigned k = 0; k < a->info->nkeys; k++) {
        width += key_width(&a->recs[k]) + 1;
    }
    graph_label(a->info->function, a->info->shape, pack->first, low, sizeof(low));
    graph_label(a->info->function, a->info->shape, pack->last, high, sizeof(high));
    fprintf(p->out, "\n%*s %*s .", width, "key", linear ? 7 : (int)strlen(low), "min");
    for (unsigned b = pack->first; b <= pack->last; b++) {
        putc('-', p->out);
    }
    fprintf(p->out, ". %-*s | count\n", linear ? 8 : (int)strlen(high), "max");
}

static void print_cell(const struct printer *p, int64_t count, double total)
{
    static const char positive[] = "__xxxxXX", negative[] = "vvvvVV";
    double share = total > 0 ? fabs((double)count) / total : 0;

    if (count == 0) {
        putc(' ', p->out);
    } else if (p->style.pack_utf8) {
        unsigned level = (unsigned)(share * 7 + 0.5);
        fprintf(p->out, "\xe2\x96%c", (char)(0x81 + level));
    } else if (count > 0) {
        putc(positive[(unsigned)(share * 7 + 0.5)], p->out);
    } else {
        putc(negative[(unsigned)(share * 5 + 0.5)], p->out);
    }
}

static void print_keys(const struct printer *p, const struct aggregation *a,
                       const struct agg_row *row)
{
    for (unsigned k = 0; k < a->info->nkeys; k++) {
        const struct dtrace_recdesc *r = &a->recs[k];
        const uint8_t *data = row->data + r->offset;
        if (r->size == 1 || r->size == 2 || r->size == 4 || r->size == 8) {
            fprintf(p->out, " %*lld", key_width(r),
                    r->size < 4 ? (long long)datum_unsigned(data, r->size)
                                : (long long)datum_signed(data, r->size));
        } else {
            print_narrow_text(p, data, r->size, key_width(r));
        }
    }
}

static void print_row(const struct printer *p, const struct aggregation *a,
                      const struct agg_row *row, const struct pack *pack)
{
    const int64_t *counts = graph_counts(a->info->function, row->value);
    unsigned buckets = graph_buckets(a->info->function, a->info->shape);
    struct graph_scale scale = graph_scale_of(counts, buckets, p->style.zoom, false);
    bool linear = a->info->function == DTRACE_AGG_LQUANTIZE;
    char low[32], high[32];
    uint64_t total = 0;

    graph_label(a->info->function, a->info->shape, pack->first, low, sizeof(low));
    graph_label(a->info->function, a->info->shape, pack->last, high, sizeof(high));
    print_keys(p, a, row);
    fprintf(p->out, " %*s :", linear ? 8 : 0, low);
    for (unsigned b = pack->first; b <= pack->last; b++) {
        print_cell(p, counts[b], scale.total);
    }
    for (unsigned b = 0; b < buckets; b++) {
        total += (uint64_t)counts[b];
    }
    fprintf(p->out, ": %-*s | %lld\n", linear ? 8 : 0, high,
            (long long)agg_divide((int64_t)total, a->normal));
}

void print_pack(const struct printer *p, const struct aggregation *a, struct agg_row *const *rows,
                size_t n)
{
    struct pack pack = {0};

    range_of(a, rows, n, &pack);
    print_heading(p, a, &pack);
    for (size_t i = 0; i < n; i++) {
        print_row(p, a, rows[i], &pack);
    }
}

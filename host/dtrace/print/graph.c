/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs of aggregations: a distribution as rows of bars, the bars of agghist, and aggpack, which
 * has each key's distribution in one row of cells.
 */
#include "host/dtrace/print/print.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 40 };

struct graph_scale graph_scale_of(const int64_t *counts, unsigned n, bool zoom, bool utf8)
{
    struct graph_scale scale = {.utf8 = utf8};
    double largest = 0;

    for (unsigned i = 0; i < n; i++) {
        double size = fabs((double)counts[i]);
        scale.positives |= counts[i] > 0;
        scale.negatives |= counts[i] < 0;
        scale.total += size;
        largest = size > largest ? size : largest;
    }
    if (zoom && largest > 0) {
        scale.total = largest / 0.95;
    }
    return scale;
}

/* ---- bars --------------------------------------------------------------------------- */

static void dtrace_graph_repeat_text(const char *text, unsigned times, FILE *out)
{
    while (times--) {
        fputs(text, out);
    }
}

/* A bar to the right, for positive counts. In UTF-8 the last block is one of eighths: U+258F is one
 * eighth, U+2589 seven. */
static void right_bar(const struct graph_scale *scale, int64_t count, unsigned width, FILE *out)
{
    double columns = count > 0 ? (double)count * width / scale->total : 0;
    unsigned eighths = (unsigned)(columns * 8), n = (unsigned)(columns + 0.5);
    char partial[4] = {(char)0xe2, (char)0x96, (char)(0x90 - eighths % 8), 0};

    if (scale->utf8) {
        n = eighths / 8 + (eighths % 8 != 0);
        dtrace_graph_repeat_text("\u2588", eighths / 8, out);
        dtrace_graph_repeat_text(partial, eighths % 8 != 0, out);
    } else {
        dtrace_graph_repeat_text("@", n, out);
    }
    dtrace_graph_repeat_text(" ", width - n, out);
}

static void left_bar(const struct graph_scale *scale, int64_t count, unsigned width, FILE *out)
{
    double columns = count < 0 ? fabs((double)count) * width / scale->total : 0;
    unsigned n = (unsigned)(columns + 0.5);

    dtrace_graph_repeat_text(" ", width - n, out);
    dtrace_graph_repeat_text("@", n, out);
}

void graph_bar(const struct graph_scale *scale, int64_t count, FILE *out)
{
    if (!scale->negatives) {
        putc('|', out);
        right_bar(scale, count, COLUMNS, out);
    } else if (!scale->positives) {
        left_bar(scale, count, COLUMNS, out);
        putc('|', out);
    } else {
        left_bar(scale, count, COLUMNS / 2, out);
        putc('|', out);
        right_bar(scale, count, COLUMNS / 2, out);
    }
}

void graph_print(const struct printer *p, const struct aggregation *a, const uint64_t *value)
{
    enum dtrace_action_kind kind = a->info->function;
    uint64_t shape = a->info->shape;
    const int64_t *counts = bucket_counts(kind, value);
    struct graph_scale scale =
        graph_scale_of(counts, bucket_count(kind, shape), p->style.zoom, p->style.utf8);
    unsigned first, last;
    char label[32];

    bucket_range(kind, shape, counts, &first, &last);
    fprintf(p->out, "\n%16s %41s %-9s\n", "value", "------------- Distribution -------------",
            "count");
    for (unsigned i = first; i <= last; i++) {
        bucket_label(kind, shape, i, label, sizeof(label));
        fprintf(p->out, "%16s ", label);
        graph_bar(&scale, counts[i], p->out);
        fprintf(p->out, " %-9lld\n", (long long)agg_divide(counts[i], a->normal));
    }
    putc('\n', p->out);
}

/* ---- aggpack ------------------------------------------------------------------------ */

struct pack {
    unsigned first, last;      /* buckets shown */
    int low_width, high_width; /* of the labels, in the rows */
    char low[32], high[32];    /* labels */
};

static void print_pack_row(const struct printer *p, const struct aggregation *a,
                           const struct agg_row *row, const struct pack *pack)
{
    static const char positive[] = "__xxxxXX", negative[] = "vvvvVV";
    const int64_t *counts = bucket_counts(a->info->function, row->value);
    unsigned buckets = bucket_count(a->info->function, a->info->shape);
    struct graph_scale scale = graph_scale_of(counts, buckets, p->style.zoom, false);
    uint64_t total = 0;

    for (unsigned k = 0; k < a->info->nkeys; k++) {
        const struct dtrace_recdesc *r = &a->recs[k];
        const uint8_t *data = row->data + r->offset;
        if (datum_is_number(r->size)) {
            fprintf(p->out, " %*lld", datum_width(r->size),
                    r->size < 4 ? (long long)datum_unsigned(data, r->size)
                                : (long long)datum_signed(data, r->size));
        } else {
            print_narrow_text(p, data, r->size, datum_width(r->size));
        }
    }
    fprintf(p->out, " %*s :", pack->low_width, pack->low);
    for (unsigned b = pack->first; b <= pack->last; b++) {
        double share = scale.total > 0 ? fabs((double)counts[b]) / scale.total : 0;
        if (counts[b] == 0) {
            putc(' ', p->out);
        } else if (p->style.pack_utf8) {
            unsigned level = (unsigned)(share * 7 + 0.5);
            fprintf(p->out, "\xe2\x96%c", (char)(0x81 + level));
        } else if (counts[b] > 0) {
            putc(positive[(unsigned)(share * 7 + 0.5)], p->out);
        } else {
            putc(negative[(unsigned)(share * 5 + 0.5)], p->out);
        }
    }
    for (unsigned b = 0; b < buckets; b++) {
        total += (uint64_t)counts[b];
    }
    fprintf(p->out, ": %-*s | %lld\n", pack->high_width, pack->high,
            (long long)agg_divide((int64_t)total, a->normal));
}

/* Shows all buckets of lquantize(); of quantize() those from one below the lowest to one above the
 * highest bucket that any key uses. */
void print_pack(const struct printer *p, const struct aggregation *a, struct agg_row *const *rows,
                size_t n)
{
    enum dtrace_action_kind kind = a->info->function;
    uint64_t shape = a->info->shape;
    bool linear = kind == DTRACE_AGG_LQUANTIZE;
    unsigned buckets = bucket_count(kind, shape), low = buckets, high = 0;
    struct pack pack = {
        .last = buckets - 1, .low_width = linear ? 8 : 0, .high_width = linear ? 8 : 0};
    int width = 0;

    for (size_t i = 0; i < n && !linear; i++) {
        for (unsigned b = 0; b < buckets; b++) {
            if (bucket_counts(kind, rows[i]->value)[b] != 0) {
                low = b < low ? b : low;
                high = b > high ? b : high;
            }
        }
    }
    if (!linear) {
        low = low == buckets ? DTRACE_QUANTIZE_ZERO : low;
        high = high < low ? low : high;
        pack.first = low > 0 && low != DTRACE_QUANTIZE_ZERO ? low - 1 : low;
        pack.last = high + 1 < buckets ? high + 1 : high;
    }
    bucket_label(kind, shape, pack.first, pack.low, sizeof(pack.low));
    bucket_label(kind, shape, pack.last, pack.high, sizeof(pack.high));
    for (unsigned k = 0; k < a->info->nkeys; k++) {
        width += datum_width(a->recs[k].size) + 1;
    }
    fprintf(p->out, "\n%*s %*s .", width, "key", linear ? 7 : (int)strlen(pack.low), "min");
    dtrace_graph_repeat_text("-", pack.last - pack.first + 1, p->out);
    fprintf(p->out, ". %-*s | count\n", linear ? 8 : (int)strlen(pack.high), "max");
    for (size_t i = 0; i < n; i++) {
        print_pack_row(p, a, rows[i], &pack);
    }
}

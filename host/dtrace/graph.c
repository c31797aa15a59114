/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Distributions as rows of bars: quantize(), lquantize(), llquantize(), and the bars of agghist.
 */
#include "host/dtrace/graph.h"
#include "host/dtrace/aggregation.h"

#include "trace/dtrace/aggregate.h"

#include <math.h>

enum { COLUMNS = 40 };

unsigned graph_buckets(enum dtrace_action_kind kind, uint64_t shape)
{
    switch (kind) {
    case DTRACE_AGG_LQUANTIZE:
        return DTRACE_LQUANTIZE_LEVELS(shape) + 2u;
    case DTRACE_AGG_LLQUANTIZE:
        return dtrace_llquantize_buckets(shape);
    default:
        return DTRACE_QUANTIZE_BUCKETS;
    }
}

const int64_t *graph_counts(enum dtrace_action_kind kind, const uint64_t *value)
{
    return (const int64_t *)value + (kind != DTRACE_AGG_QUANTIZE);
}

static int64_t quantize_value(unsigned bucket)
{
    if (bucket == DTRACE_QUANTIZE_ZERO) {
        return 0;
    }
    return bucket < DTRACE_QUANTIZE_ZERO ? -((int64_t)1 << (DTRACE_QUANTIZE_ZERO - 1 - bucket))
                                         : (int64_t)1 << (bucket - DTRACE_QUANTIZE_ZERO - 1);
}

static int64_t lquantize_value(uint64_t shape, unsigned bucket)
{
    return DTRACE_LQUANTIZE_BASE(shape) + ((int64_t)bucket - 1) * DTRACE_LQUANTIZE_STEP(shape);
}

static int64_t power(int64_t base, unsigned exponent)
{
    uint64_t value = 1;

    while (exponent--) {
        value *= (uint64_t)base;
    }
    return (int64_t)value;
}

/* The least value of a bucket above the one for what lies below the range. */
static int64_t llquantize_value(uint64_t shape, unsigned bucket)
{
    int64_t factor = DTRACE_LLQUANTIZE_FACTOR(shape), nsteps = DTRACE_LLQUANTIZE_NSTEPS(shape);
    int64_t here = power(factor, DTRACE_LLQUANTIZE_LOW(shape));
    unsigned n = bucket - 1;

    for (unsigned m = DTRACE_LLQUANTIZE_LOW(shape); m <= DTRACE_LLQUANTIZE_HIGH(shape); m++) {
        uint64_t next = (uint64_t)here * (uint64_t)factor;
        int64_t width = next > (uint64_t)nsteps ? (int64_t)(next / (uint64_t)nsteps) : 1;
        unsigned steps = (unsigned)((next - (uint64_t)here) / (uint64_t)width);
        if (n < steps) {
            return here + (int64_t)n * width;
        }
        n -= steps;
        here = (int64_t)next;
    }
    return here;
}

void graph_label(enum dtrace_action_kind kind, uint64_t shape, unsigned bucket, char *to,
                 size_t room)
{
    unsigned last = graph_buckets(kind, shape) - 1;
    const char *sign = "";
    int64_t value;

    if (kind == DTRACE_AGG_QUANTIZE) {
        value = quantize_value(bucket);
    } else if (bucket == 0) {
        sign = "< ";
        value = kind == DTRACE_AGG_LQUANTIZE ? DTRACE_LQUANTIZE_BASE(shape)
                                             : llquantize_value(shape, 1);
    } else {
        sign = bucket == last ? ">= " : "";
        value = kind == DTRACE_AGG_LQUANTIZE ? lquantize_value(shape, bucket)
                                             : llquantize_value(shape, bucket);
    }
    snprintf(to, room, "%s%lld", sign, (long long)value);
}

int64_t graph_bucket_value(enum dtrace_action_kind kind, uint64_t shape, unsigned bucket)
{
    if (kind == DTRACE_AGG_QUANTIZE) {
        return quantize_value(bucket);
    }
    if (kind == DTRACE_AGG_LQUANTIZE) {
        if (bucket == 0) {
            return (int64_t)DTRACE_LQUANTIZE_BASE(shape) - 1;
        }
        return lquantize_value(shape, bucket) + (bucket == graph_buckets(kind, shape) - 1);
    }
    return bucket == 0 ? llquantize_value(shape, 1) - 1 : llquantize_value(shape, bucket);
}

static void empty_range(enum dtrace_action_kind kind, unsigned *first, unsigned *last)
{
    *first = kind == DTRACE_AGG_QUANTIZE ? DTRACE_QUANTIZE_ZERO - 1 : 0;
    *last = *first + (kind == DTRACE_AGG_LLQUANTIZE ? 1 : 2);
}

void graph_range(enum dtrace_action_kind kind, uint64_t shape, const int64_t *counts,
                 unsigned *first, unsigned *last)
{
    unsigned n = graph_buckets(kind, shape), low = 0, high = n;

    while (low < n && counts[low] == 0) {
        low++;
    }
    if (low == n) {
        empty_range(kind, first, last);
        return;
    }
    while (counts[high - 1] == 0) {
        high--;
    }
    *first = low > 0 ? low - 1 : 0;
    *last = high < n ? high : n - 1;
}

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

static void repeat(const char *text, unsigned times, FILE *out)
{
    while (times--) {
        fputs(text, out);
    }
}

/* Full blocks, then a block of eighths: U+258F is one eighth, U+2589 seven. */
static void blocks(double columns, unsigned width, FILE *out)
{
    unsigned eighths = (unsigned)(columns * 8);
    unsigned full = eighths / 8, part = eighths % 8;
    char partial[4] = {(char)0xe2, (char)0x96, (char)(0x90 - part), 0};

    repeat("\u2588", full, out);
    repeat(partial, part != 0, out);
    repeat(" ", width - full - (part != 0), out);
}

static void right_bar(const struct graph_scale *scale, int64_t count, unsigned width, FILE *out)
{
    double columns = count > 0 ? (double)count * width / scale->total : 0;

    if (scale->utf8) {
        blocks(columns, width, out);
        return;
    }
    unsigned n = (unsigned)(columns + 0.5);
    repeat("@", n, out);
    repeat(" ", width - n, out);
}

static void left_bar(const struct graph_scale *scale, int64_t count, unsigned width, FILE *out)
{
    double columns = count < 0 ? fabs((double)count) * width / scale->total : 0;
    unsigned n = (unsigned)(columns + 0.5);

    repeat(" ", width - n, out);
    repeat("@", n, out);
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

void graph_print(enum dtrace_action_kind kind, uint64_t shape, const uint64_t *value,
                 uint64_t normal, bool zoom, bool utf8, FILE *out)
{
    const int64_t *counts = graph_counts(kind, value);
    unsigned first, last, n = graph_buckets(kind, shape);
    struct graph_scale scale = graph_scale_of(counts, n, zoom, utf8);
    char label[32];

    graph_range(kind, shape, counts, &first, &last);
    fprintf(out, "\n%16s %41s %-9s\n", "value", "------------- Distribution -------------",
            "count");
    for (unsigned i = first; i <= last; i++) {
        graph_label(kind, shape, i, label, sizeof(label));
        fprintf(out, "%16s ", label);
        graph_bar(&scale, counts[i], out);
        fprintf(out, " %-9lld\n", (long long)agg_divide(counts[i], normal));
    }
    putc('\n', out);
}

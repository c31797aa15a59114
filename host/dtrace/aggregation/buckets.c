/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buckets of quantize(), lquantize() and llquantize(): how many there are, what each stands for,
 * and which of them are shown. Tested by test/host/dtrace/aggregation/merge_test.c.
 */
#include "host/dtrace/aggregation/aggregation.h"

#include "trace/dtrace/action.h"

#include <stdio.h>

unsigned bucket_count(enum dtrace_action_kind kind, uint64_t shape)
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

const int64_t *bucket_counts(enum dtrace_action_kind kind, const uint64_t *value)
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

/* Returns the least value of a bucket. Bucket 0, for values below the range, has none. */
static int64_t llquantize_value(uint64_t shape, unsigned bucket)
{
    int64_t factor = DTRACE_LLQUANTIZE_FACTOR(shape), nsteps = DTRACE_LLQUANTIZE_NSTEPS(shape);
    uint64_t here = 1; /* factor to the power of the magnitude */
    unsigned n = bucket - 1;

    for (unsigned m = 0; m < DTRACE_LLQUANTIZE_LOW(shape); m++) {
        here *= (uint64_t)factor;
    }
    for (unsigned m = DTRACE_LLQUANTIZE_LOW(shape); m <= DTRACE_LLQUANTIZE_HIGH(shape); m++) {
        uint64_t next = here * (uint64_t)factor;
        int64_t width = next > (uint64_t)nsteps ? (int64_t)(next / (uint64_t)nsteps) : 1;
        unsigned steps = (unsigned)((next - here) / (uint64_t)width);
        if (n < steps) {
            return (int64_t)here + (int64_t)n * width;
        }
        n -= steps;
        here = next;
    }
    return (int64_t)here;
}

void bucket_label(enum dtrace_action_kind kind, uint64_t shape, unsigned bucket, char *to,
                  size_t room)
{
    unsigned last = bucket_count(kind, shape) - 1;
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

int64_t bucket_value(enum dtrace_action_kind kind, uint64_t shape, unsigned bucket)
{
    if (kind == DTRACE_AGG_QUANTIZE) {
        return quantize_value(bucket);
    }
    if (kind == DTRACE_AGG_LQUANTIZE) {
        if (bucket == 0) {
            return (int64_t)DTRACE_LQUANTIZE_BASE(shape) - 1;
        }
        return lquantize_value(shape, bucket) + (bucket == bucket_count(kind, shape) - 1);
    }
    return bucket == 0 ? llquantize_value(shape, 1) - 1 : llquantize_value(shape, bucket);
}

void bucket_range(enum dtrace_action_kind kind, uint64_t shape, const int64_t *counts,
                  unsigned *first, unsigned *last)
{
    unsigned n = bucket_count(kind, shape), low = 0, high = n;

    while (low < n && counts[low] == 0) {
        low++;
    }
    if (low == n) { /* no value: the buckets around 0, or the first ones */
        *first = kind == DTRACE_AGG_QUANTIZE ? DTRACE_QUANTIZE_ZERO - 1 : 0;
        *last = *first + (kind == DTRACE_AGG_LLQUANTIZE ? 1 : 2);
        return;
    }
    while (counts[high - 1] == 0) {
        high--;
    }
    *first = low > 0 ? low - 1 : 0;
    *last = high < n ? high : n - 1;
}

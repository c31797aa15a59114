/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The aggregating functions: each adds one value to the 64-bit words of its datum. Every one
 * satisfies f(f(a) u f(b)) = f(a u b), so CPUs aggregate separately and the consumer merges. Sums
 * wrap.
 *
 *   count, sum, min, max   1 word
 *   avg                    count, sum
 *   stddev                 count, sum, sum of squares (128 bits, low word first)
 *   quantize               127 buckets
 *   lquantize, llquantize  shape, then below, the levels, above
 */
#include "trace/dtrace/aggregate.h"

#include "trace/assert.h"

/* Returns the bucket's index. The order is: the one below, those of each magnitude, the one above.
 * The loops are bounded by the magnitudes: at most 64. */
static unsigned agg_function_llquantize(uint64_t shape, uint64_t value)
{
    uint64_t factor = DTRACE_LLQUANTIZE_FACTOR(shape);
    uint32_t nsteps = DTRACE_LLQUANTIZE_NSTEPS(shape);
    uint64_t here = 1; /* the magnitude's lowest value */
    unsigned base = 1;

    for (unsigned i = 0; i < DTRACE_LLQUANTIZE_LOW(shape); i++) {
        here *= factor;
    }
    if (value < here) {
        return 0;
    }
    for (unsigned m = DTRACE_LLQUANTIZE_LOW(shape); m <= DTRACE_LLQUANTIZE_HIGH(shape); m++) {
        uint64_t next = here * factor;
        if (value < next) {
            uint64_t width = next > nsteps ? next / nsteps : 1;
            return base + (unsigned)((value - here) / width);
        }
        base += next <= nsteps ? (uint32_t)(next - here) : nsteps - (uint32_t)(nsteps / factor);
        here = next;
    }
    return base;
}

unsigned dtrace_llquantize_buckets(uint64_t shape)
{
    return agg_function_llquantize(shape, UINT64_MAX) + 1; /* the last bucket, for values above */
}

unsigned dtrace_llquantize_bucket(uint64_t shape, int64_t value)
{
    return value < 0 ? 0 : agg_function_llquantize(shape, (uint64_t)value);
}

uint32_t dtrace_agg_value_size(uint16_t kind, uint64_t shape)
{
    switch (kind) {
    case DTRACE_AGG_COUNT:
    case DTRACE_AGG_SUM:
    case DTRACE_AGG_MIN:
    case DTRACE_AGG_MAX:
        return 8;
    case DTRACE_AGG_AVG:
        return 16;
    case DTRACE_AGG_STDDEV:
        return 32;
    case DTRACE_AGG_QUANTIZE:
        return DTRACE_QUANTIZE_BUCKETS * 8;
    case DTRACE_AGG_LQUANTIZE:
        return (DTRACE_LQUANTIZE_LEVELS(shape) + 3u) * 8;
    case DTRACE_AGG_LLQUANTIZE:
        return (dtrace_llquantize_buckets(shape) + 1u) * 8;
    default:
        return 0;
    }
}

unsigned dtrace_quantize_bucket(int64_t value)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    if (value == 0) {
        return DTRACE_QUANTIZE_ZERO;
    }
    unsigned log2 = 63u - (unsigned)__builtin_clzll(magnitude);
    log2 = log2 > 62 ? 62 : log2;
    return value < 0 ? DTRACE_QUANTIZE_ZERO - 1 - log2 : DTRACE_QUANTIZE_ZERO + 1 + log2;
}

/* Returns 0 for a value below, levels + 1 for one above. */
unsigned dtrace_lquantize_bucket(uint64_t shape, int64_t value)
{
    int64_t base = DTRACE_LQUANTIZE_BASE(shape);
    unsigned levels = DTRACE_LQUANTIZE_LEVELS(shape);
    int32_t v = (int32_t)value;

    if (v < base) {
        return 0;
    }
    trace_assert(DTRACE_LQUANTIZE_STEP(shape) > 0);
    uint64_t level = (uint64_t)(v - base) / DTRACE_LQUANTIZE_STEP(shape);
    return level < levels ? (unsigned)level + 1 : levels + 1;
}

void dtrace_agg_init(const struct dtrace_aggregation *a, uint64_t *data)
{
    __builtin_memset(data, 0, a->rec.size);
    switch (a->kind) {
    case DTRACE_AGG_MIN:
        data[0] = INT64_MAX;
        break;
    case DTRACE_AGG_MAX:
        data[0] = (uint64_t)INT64_MIN;
        break;
    case DTRACE_AGG_LQUANTIZE:
    case DTRACE_AGG_LLQUANTIZE:
        data[0] = a->shape;
        break;
    }
}

/* Computes data[0..1] += v * v in 32-bit halves, because a small CPU has no wider
 * multiplication. */
static void add_square(uint64_t *data, int64_t v)
{
    uint64_t m = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    uint64_t low = m & 0xffffffff, high = m >> 32;
    uint64_t cross = low * high;
    uint64_t product_low = low * low, product_high = high * high + (cross >> 31);
    uint64_t shifted = cross << 33;

    product_low += shifted;
    product_high += product_low < shifted;
    data[0] += product_low;
    data[1] += product_high + (data[0] < product_low);
}

void dtrace_agg_update(const struct dtrace_aggregation *a, uint64_t *data, uint64_t value,
                       uint64_t weight)
{
    switch (a->kind) {
    case DTRACE_AGG_COUNT:
        data[0]++;
        break;
    case DTRACE_AGG_SUM:
        data[0] += value;
        break;
    case DTRACE_AGG_MIN:
        data[0] = (int64_t)value < (int64_t)data[0] ? value : data[0];
        break;
    case DTRACE_AGG_MAX:
        data[0] = (int64_t)value > (int64_t)data[0] ? value : data[0];
        break;
    case DTRACE_AGG_AVG:
        data[0]++;
        data[1] += value;
        break;
    case DTRACE_AGG_STDDEV:
        data[0]++;
        data[1] += value;
        add_square(&data[2], (int64_t)value);
        break;
    case DTRACE_AGG_QUANTIZE:
        data[dtrace_quantize_bucket((int64_t)value)] += weight;
        break;
    case DTRACE_AGG_LQUANTIZE:
        data[1 + dtrace_lquantize_bucket(a->shape, (int64_t)value)] += weight;
        break;
    case DTRACE_AGG_LLQUANTIZE:
        data[1 + dtrace_llquantize_bucket(a->shape, (int64_t)value)] += weight;
        break;
    default:
        dtrace_kept_update(a, data, value, weight);
    }
}

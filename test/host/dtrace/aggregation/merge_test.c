/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The law that lets CPUs aggregate alone: f(f(a) u f(b)) = f(a u b), for every aggregating function
 * on random data; and each against a definition written down naively.
 */
#include "host/dtrace/aggregation/aggregation.h"
#include "host/dtrace/aggregation/aggregation.h"
#include "host/kymo.h"
#include "trace/dtrace/aggregate.h"

#include "test/tool/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* Of kinds that only a machine makes. */
void dtrace_kept_update(const struct dtrace_aggregation *a, uint64_t *data, uint64_t value,
                        uint64_t weight)
{
    (void)data;
    (void)value;
    (void)weight;
    fail_msg("kind %#x", a->kind);
}

/* The sorter's and merger's one need of the compiler. */
bool dt_type_is_integer(const struct dt_type *type)
{
    return type != NULL;
}

/* Of the command, which the sorter is a part of. */
_Noreturn void kymo_no_memory(void)
{
    abort();
}

enum { VALUES = 200, WORDS = 70000 };

static const struct function {
    enum dtrace_action_kind kind;
    uint64_t shape;
} functions[] = {
    {DTRACE_AGG_COUNT, 0},
    {DTRACE_AGG_SUM, 0},
    {DTRACE_AGG_MIN, 0},
    {DTRACE_AGG_MAX, 0},
    {DTRACE_AGG_AVG, 0},
    {DTRACE_AGG_STDDEV, 0},
    {DTRACE_AGG_QUANTIZE, 0},
    {DTRACE_AGG_LQUANTIZE, DTRACE_LQUANTIZE_ARG(10, 20, -100)},
    {DTRACE_AGG_LQUANTIZE, DTRACE_LQUANTIZE_ARG(1, 65535, INT32_MIN)},
    {DTRACE_AGG_LLQUANTIZE, DTRACE_LLQUANTIZE_ARG(10, 0, 6, 20)},
    {DTRACE_AGG_LLQUANTIZE, DTRACE_LLQUANTIZE_ARG(2, 3, 62, 4)},
};

static int64_t random_value(void)
{
    uint64_t bits = (uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX);

    return (int64_t)(bits >> random_below(64)) * (random_below(2) ? 1 : -1);
}

static struct dtrace_aggregation aggregation(const struct function *f)
{
    return (struct dtrace_aggregation){
        .kind = (uint16_t)f->kind,
        .shape = f->shape,
        .rec = {.size = dtrace_agg_value_size((uint16_t)f->kind, f->shape)},
    };
}

static void test_law(void **state)
{
    static uint64_t whole[WORDS], a[WORDS], b[WORDS];

    (void)state;
    for (unsigned kind = DTRACE_AGG_COUNT; kind <= DTRACE_AGG_LLQUANTIZE; kind++) {
        unsigned rows = 0; /* of every function there is */
        for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
            rows += functions[i].kind == kind;
        }
        assert_true(rows > 0);
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        struct dtrace_aggregation agg = aggregation(&functions[i]);
        size_t words = agg.rec.size / 8;
        assert_true(words <= WORDS);
        for (unsigned round = 0; round < 20; round++) {
            dtrace_agg_init(&agg, whole);
            dtrace_agg_init(&agg, a);
            dtrace_agg_init(&agg, b);
            for (unsigned n = random_below(VALUES); n; n--) {
                uint64_t value = (uint64_t)random_value(), weight = (uint64_t)(random_value() % 9);
                dtrace_agg_update(&agg, whole, value, weight);
                dtrace_agg_update(&agg, random_below(2) ? a : b, value, weight);
            }
            agg_merge_value(functions[i].kind, a, b, words);
            assert_memory_equal(a, whole, words * 8);
        }
    }
}

/* count, sum, min, max and avg of the values, as their definitions say. */
static void check_numbers(const int64_t *values, unsigned n)
{
    uint64_t count = n, sum = 0, data[4];
    int64_t least = INT64_MAX, most = INT64_MIN;

    for (unsigned i = 0; i < n; i++) {
        sum += (uint64_t)values[i];
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    const uint64_t wanted[][2] = {
        [DTRACE_AGG_COUNT - DTRACE_AGG_COUNT] = {count},
        [DTRACE_AGG_SUM - DTRACE_AGG_COUNT] = {sum},
        [DTRACE_AGG_MIN - DTRACE_AGG_COUNT] = {(uint64_t)least},
        [DTRACE_AGG_MAX - DTRACE_AGG_COUNT] = {(uint64_t)most},
        [DTRACE_AGG_AVG - DTRACE_AGG_COUNT] = {count, sum},
    };
    for (size_t i = 0; i < 5; i++) {
        struct dtrace_aggregation agg = aggregation(&functions[i]);

        dtrace_agg_init(&agg, data);
        for (unsigned k = 0; k < n; k++) {
            dtrace_agg_update(&agg, data, (uint64_t)values[k], 1);
        }
        assert_memory_equal(data, wanted[functions[i].kind - DTRACE_AGG_COUNT], agg.rec.size);
    }
}

/* Of no value, of one, of several; of both signs, and of one sign only. */
static void test_numbers(void **state)
{
    int64_t values[8];

    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        unsigned n = round % 9;

        for (unsigned i = 0; i < n; i++) {
            values[i] = random_below(20) ? random_value() : INT64_MIN;
            if (round % 3 && (values[i] < 0) != (round % 3 == 1)) {
                values[i] = ~values[i];
            }
        }
        check_numbers(values, n);
    }
}

/* The bucket's label is the largest that is not above the value. */
static void check_bucket(enum dtrace_action_kind kind, uint64_t shape, int64_t value,
                         unsigned bucket)
{
    unsigned last = bucket_count(kind, shape) - 1;

    assert_true(bucket <= last);
    if (bucket == 0) {
        assert_true(value < bucket_value(kind, shape, 1));
        return;
    }
    int64_t label = bucket_value(kind, shape, bucket);
    if (kind == DTRACE_AGG_LQUANTIZE && bucket == last) {
        label--;
    }
    assert_true(label <= value);
    if (bucket < last && bucket + 1 < last) {
        assert_true(value < bucket_value(kind, shape, bucket + 1));
    }
}

static void test_buckets(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 200000; n++) {
        int64_t value = random_value();
        uint64_t lq = functions[7].shape, llq = functions[9 + random_below(2)].shape;
        check_bucket(DTRACE_AGG_LQUANTIZE, lq, (int32_t)value, dtrace_lquantize_bucket(lq, value));
        check_bucket(DTRACE_AGG_LLQUANTIZE, llq, value, dtrace_llquantize_bucket(llq, value));
    }
}

/* Each value that a bucket begins with, the one below it, the one above it: the bucket's number is
 * the count of labels that are not above the value. */
static void check_edges(enum dtrace_action_kind kind, uint64_t shape, const __int128 *labels,
                        unsigned n)
{
    assert_int_equal(bucket_count(kind, shape), n + 1);
    for (unsigned i = 0; i < n; i++) {
        for (int by = -1; by <= 1; by++) {
            __int128 value = labels[i] + by;
            unsigned wanted = i + (by >= 0);

            wanted += i + 1 < n && value >= labels[i + 1];
            wanted -= i > 0 && value < labels[i - 1];
            if (kind == DTRACE_AGG_LQUANTIZE && value >= INT32_MIN && value <= INT32_MAX) {
                assert_int_equal(dtrace_lquantize_bucket(shape, (int64_t)value), wanted);
            } else if (kind == DTRACE_AGG_LLQUANTIZE && value <= INT64_MAX) {
                assert_int_equal(dtrace_llquantize_bucket(shape, (int64_t)value), wanted);
            }
        }
    }
}

/* A label for each level, and one for what is above them. */
static void lquantize_edges(void)
{
    static __int128 labels[1002];
    uint32_t step = 1 + random_below(random_below(2) ? 3 : 60000);
    unsigned levels = 1 + random_below(1000);
    int32_t base =
        (int32_t)(random_below(3) ? random_below(2000) - 1000 : random_below(UINT32_MAX));

    for (unsigned i = 0; i <= levels; i++) {
        labels[i] = (__int128)base + (__int128)i * step;
    }
    check_edges(DTRACE_AGG_LQUANTIZE, DTRACE_LQUANTIZE_ARG(step, levels, base), labels, levels + 1);
}

/* Each magnitude m, from factor^m to factor^(m+1), has nsteps buckets over its whole range from 0,
 * or one for each value. The last label is that of what is above the highest. */
static void llquantize_edges(void)
{
    static const struct {
        unsigned factor, nsteps, most; /* most: magnitudes that fit 64 bits */
    } rows[] = {{2, 2, 62},   {2, 4, 62},   {2, 8, 62},   {3, 9, 39},   {5, 5, 26},
                {7, 7, 21},   {8, 4, 20},   {10, 10, 18}, {10, 20, 18}, {10, 100, 18},
                {10, 50, 18}, {16, 16, 14}, {60, 120, 9}, {255, 255, 6}};
    static __int128 labels[4000];
    unsigned row = random_below(sizeof(rows) / sizeof(*rows)), n = 0;
    uint64_t factor = rows[row].factor, nsteps = rows[row].nsteps;
    unsigned low = random_below(rows[row].most), high = low;
    __int128 here = 1;

    high += random_below(rows[row].most + 1 - low);
    for (unsigned m = 0; m <= high; m++, here *= factor) {
        __int128 next = here * factor, width = next > nsteps ? next / nsteps : 1;

        for (__int128 at = here; m >= low && at < next; at += width) {
            assert_true(n < 3999);
            labels[n++] = at;
        }
    }
    labels[n++] = here;
    check_edges(DTRACE_AGG_LLQUANTIZE, DTRACE_LLQUANTIZE_ARG(factor, low, high, nsteps), labels, n);
}

static void test_edges(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        lquantize_edges();
        llquantize_edges();
    }
}

/* A distribution shows what isn't empty, and an empty row on either side where there is one. */
static void test_range(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        const struct function *f = &functions[6 + random_below(4)];
        int64_t counts[DTRACE_QUANTIZE_BUCKETS + 100] = {0};
        unsigned n, first, last, least = UINT32_MAX, most = 0;

        if (DTRACE_LQUANTIZE_LEVELS(f->shape) > 1000 && f->kind == DTRACE_AGG_LQUANTIZE) {
            continue; /* as the others, with more buckets */
        }
        n = bucket_count(f->kind, f->shape);
        assert_true(n <= sizeof(counts) / sizeof(*counts));
        for (unsigned i = random_below(4); i; i--) {
            unsigned at = random_below(3) ? random_below(n) : random_below(2) ? 0 : n - 1;

            counts[at] = random_below(2) ? 1 : -1;
            least = at < least ? at : least;
            most = at > most ? at : most;
        }
        bucket_range(f->kind, f->shape, counts, &first, &last);
        if (least == UINT32_MAX) {
            assert_true(first < last && last < n); /* some rows, all of them empty */
            continue;
        }
        assert_int_equal(first, least ? least - 1 : 0);
        assert_int_equal(last, most + 1 < n ? most + 1 : n - 1);
    }
}

static void test_quantize(void **state)
{
    (void)state;
    assert_int_equal(dtrace_quantize_bucket(0), DTRACE_QUANTIZE_ZERO);
    assert_int_equal(dtrace_quantize_bucket(INT64_MIN), 0);
    assert_int_equal(dtrace_quantize_bucket(INT64_MAX), DTRACE_QUANTIZE_BUCKETS - 1);
    for (unsigned n = 0; n < 100000; n++) {
        int64_t value = random_value();
        int64_t label = bucket_value(DTRACE_AGG_QUANTIZE, 0, dtrace_quantize_bucket(value));
        uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        uint64_t low = label < 0 ? 0 - (uint64_t)label : (uint64_t)label;
        assert_true((value < 0) == (label < 0) && low <= size &&
                    (size == 0 || size < 2 * low || low >> 62));
    }
}

static void test_square(void **state)
{
    struct dtrace_aggregation agg = aggregation(&functions[5]);

    (void)state;
    for (unsigned n = 0; n < 10000; n++) {
        unsigned __int128 sum = 0;
        uint64_t data[4] = {0};
        for (unsigned i = 0; i < 10; i++) {
            int64_t value = random_value();
            __int128 wide = value;
            sum += (unsigned __int128)(wide * wide);
            dtrace_agg_update(&agg, data, (uint64_t)value, 1);
        }
        assert_true(data[2] == (uint64_t)sum && data[3] == (uint64_t)(sum >> 64));
    }
}

/* Sums of two squares whose carries go from word to word: of each pair of these values, folded on
 * one CPU and merged from two. */
static void test_carry(void **state)
{
    static const int64_t values[] = {
        0,
        1,
        0xffff,
        0x10000,
        0x7fffffff,
        0x80000000,
        0xb504f333,
        0xb504f334,
        4000000000,
        4000000100,
        0xffffffff,
        0x100000000,
        0x16a09e667f3bcd,
        0x100000001,
        0x1ffffffff,
        -4000000000,
        0x7fffffffffffffff,
        INT64_MIN,
    };
    struct dtrace_aggregation agg = aggregation(&functions[5]);
    unsigned n = sizeof(values) / sizeof(*values), carried = 0;

    (void)state;
    for (unsigned pair = 0; pair < n * n; pair++) {
        __int128 one = values[pair / n], other = values[pair % n];
        unsigned __int128 sum = (unsigned __int128)(one * one) + (unsigned __int128)(other * other);
        uint64_t whole[4] = {0}, a[4] = {0}, b[4] = {0};

        dtrace_agg_update(&agg, whole, (uint64_t)one, 1);
        dtrace_agg_update(&agg, whole, (uint64_t)other, 1);
        dtrace_agg_update(&agg, a, (uint64_t)one, 1);
        dtrace_agg_update(&agg, b, (uint64_t)other, 1);
        carried += whole[2] < a[2];
        agg_merge_value(DTRACE_AGG_STDDEV, a, b, 4);
        assert_true(whole[2] == (uint64_t)sum && whole[3] == (uint64_t)(sum >> 64));
        assert_memory_equal(a, whole, sizeof(whole));
    }
    assert_true(carried > 20);
}

enum { CPUS = 3 };

static int64_t shares_sum(const struct agg_row *row)
{
    int64_t sum = 0;

    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        sum += row->cpus[cpu] ? (int64_t)row->cpus[cpu][0] : 0;
    }
    return sum;
}

/* Rows of several snapshots of three CPUs, merged and sorted, against counting. */
static void test_rows(void **state)
{
    struct dt_aggregation_info info = {.function = DTRACE_AGG_SUM, .nkeys = 1};
    struct dtrace_recdesc recs[2] = {{.kind = DTRACE_ACT_DIFEXPR, .size = 4, .offset = 16},
                                     {.kind = DTRACE_AGG_SUM, .size = 8, .offset = 24}};
    struct aggregation a = {.info = &info, .nrecs = 2, .normal = 1, .ncpus = CPUS};
    struct aggregation *list[1] = {&a};
    struct agg_style style = {0};
    int64_t sums[50] = {0};
    size_t n;

    (void)state;
    a.recs = malloc(sizeof(recs));
    memcpy(a.recs, recs, sizeof(recs));
    for (unsigned i = 0; i < 5000; i++) {
        uint64_t entry[4] = {0};
        uint32_t key = random_below(50);
        int64_t value = random_value() % 1000;
        memcpy(&entry[2], &key, 4);
        entry[3] = (uint64_t)value;
        sums[key] += value;
        assert_true(agg_merge(&a, (const uint8_t *)entry, random_below(CPUS)));
    }
    struct agg_row **rows = agg_join(list, 1, &style, &n);
    assert_int_equal(n, a.nrows);
    for (size_t i = 0; i < n; i++) {
        uint32_t key;
        memcpy(&key, rows[i]->data + 16, 4);
        assert_int_equal((int64_t)rows[i]->value[0], sums[key]);
        assert_int_equal(shares_sum(rows[i]), sums[key]);
        assert_true(i == 0 || (int64_t)rows[i - 1]->value[0] <= (int64_t)rows[i]->value[0]);
    }
    free(rows);
    agg_truncate(&a, 5, &style);
    assert_int_equal(a.nrows, 5);
    agg_free(&a);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* trunc() of n: what is left are the n highest values, or the -n lowest. */
static void truncate_to(int64_t n, unsigned nrows)
{
    struct dt_aggregation_info info = {.function = DTRACE_AGG_SUM, .nkeys = 1};
    struct aggregation a = {.info = &info, .nrecs = 2, .normal = 1};
    struct aggregation *list[1] = {&a};
    struct agg_style style = {0};
    uint64_t keep = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    int64_t values[64];
    size_t left;

    a.recs = malloc(2 * sizeof(*a.recs));
    assert_non_null(a.recs);
    a.recs[0] = (struct dtrace_recdesc){.kind = DTRACE_ACT_DIFEXPR, .size = 4, .offset = 16};
    a.recs[1] = (struct dtrace_recdesc){.kind = DTRACE_AGG_SUM, .size = 8, .offset = 24};
    for (uint32_t key = 0; key < nrows; key++) {
        uint64_t entry[4] = {0};

        values[key] = random_below(2) ? (int64_t)random_below(9) - 4 : random_value();
        memcpy(&entry[2], &key, 4);
        entry[3] = (uint64_t)values[key];
        assert_true(agg_merge(&a, (const uint8_t *)entry, 0));
    }
    qsort(values, nrows, sizeof(*values), by_size);
    agg_truncate(&a, n, &style);
    keep = keep < nrows ? keep : nrows;
    struct agg_row **rows = agg_join(list, 1, &style, &left);
    assert_int_equal(left, keep);
    assert_int_equal(a.nrows, keep);
    for (size_t i = 0; i < left; i++) {
        assert_int_equal((int64_t)rows[i]->value[0], values[n > 0 ? nrows - keep + i : i]);
    }
    free(rows);
    agg_free(&a);
}

static void test_truncate(void **state)
{
    (void)state;
    for (unsigned nrows = 0; nrows <= 20; nrows++) {
        for (int n = -22; n <= 22; n++) {
            truncate_to(n, nrows);
        }
        truncate_to(INT64_MAX, nrows);
        truncate_to(INT64_MIN, nrows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_law),     cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_buckets), cmocka_unit_test(test_edges),
        cmocka_unit_test(test_range),   cmocka_unit_test(test_quantize),
        cmocka_unit_test(test_square),  cmocka_unit_test(test_carry),
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_truncate),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

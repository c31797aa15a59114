/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The law that lets CPUs aggregate alone: f(f(a) u f(b)) = f(a u b), for every aggregating function
 * on random data; and each against a definition written down naively.
 */
#include "host/dtrace/aggregation.h"
#include "host/dtrace/graph.h"
#include "trace/d/aggregate.h"

#include "test/unit_kernel/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* Of kinds that only a machine makes. */
void d_kept_update(const struct d_aggregation *a, uint64_t *data, uint64_t value, uint64_t weight)
{
    (void)data;
    (void)value;
    (void)weight;
    fail_msg("kind %#x", a->kind);
}

/* The sorter's and merger's one need of the compiler. */
bool d_type_is_integer(const struct d_type *type)
{
    return type != NULL;
}

enum { VALUES = 200, WORDS = 70000 };

static const struct function {
    enum d_action_kind kind;
    uint64_t shape;
} functions[] = {
    {D_AGG_COUNT, 0},
    {D_AGG_SUM, 0},
    {D_AGG_MIN, 0},
    {D_AGG_MAX, 0},
    {D_AGG_AVG, 0},
    {D_AGG_STDDEV, 0},
    {D_AGG_QUANTIZE, 0},
    {D_AGG_LQUANTIZE, D_LQUANTIZE_ARG(10, 20, -100)},
    {D_AGG_LQUANTIZE, D_LQUANTIZE_ARG(1, 65535, INT32_MIN)},
    {D_AGG_LLQUANTIZE, D_LLQUANTIZE_ARG(10, 0, 6, 20)},
    {D_AGG_LLQUANTIZE, D_LLQUANTIZE_ARG(2, 3, 62, 4)},
};

static int64_t random_value(void)
{
    uint64_t bits = (uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX);

    return (int64_t)(bits >> random_below(64)) * (random_below(2) ? 1 : -1);
}

static struct d_aggregation aggregation(const struct function *f)
{
    return (struct d_aggregation){
        .kind = (uint16_t)f->kind,
        .shape = f->shape,
        .rec = {.size = d_agg_value_size((uint16_t)f->kind, f->shape)},
    };
}

static void test_law(void **state)
{
    static uint64_t whole[WORDS], a[WORDS], b[WORDS];

    (void)state;
    for (unsigned kind = D_AGG_COUNT; kind <= D_AGG_LLQUANTIZE; kind++) {
        unsigned rows = 0; /* of every function there is */
        for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
            rows += functions[i].kind == kind;
        }
        assert_true(rows > 0);
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        struct d_aggregation agg = aggregation(&functions[i]);
        size_t words = agg.rec.size / 8;
        assert_true(words <= WORDS);
        for (unsigned round = 0; round < 20; round++) {
            d_agg_init(&agg, whole);
            d_agg_init(&agg, a);
            d_agg_init(&agg, b);
            for (unsigned n = random_below(VALUES); n; n--) {
                uint64_t value = (uint64_t)random_value(), weight = (uint64_t)(random_value() % 9);
                d_agg_update(&agg, whole, value, weight);
                d_agg_update(&agg, random_below(2) ? a : b, value, weight);
            }
            agg_merge_value(functions[i].kind, a, b, words);
            assert_memory_equal(a, whole, words * 8);
        }
    }
}

/* The bucket's label is the largest that is not above the value. */
static void check_bucket(enum d_action_kind kind, uint64_t shape, int64_t value, unsigned bucket)
{
    unsigned last = graph_buckets(kind, shape) - 1;

    assert_true(bucket <= last);
    if (bucket == 0) {
        assert_true(value < graph_bucket_value(kind, shape, 1));
        return;
    }
    int64_t label = graph_bucket_value(kind, shape, bucket);
    if (kind == D_AGG_LQUANTIZE && bucket == last) {
        label--;
    }
    assert_true(label <= value);
    if (bucket < last && bucket + 1 < last) {
        assert_true(value < graph_bucket_value(kind, shape, bucket + 1));
    }
}

static void test_buckets(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 200000; n++) {
        int64_t value = random_value();
        uint64_t lq = functions[7].shape, llq = functions[9 + random_below(2)].shape;
        check_bucket(D_AGG_LQUANTIZE, lq, (int32_t)value, d_lquantize_bucket(lq, value));
        check_bucket(D_AGG_LLQUANTIZE, llq, value, d_llquantize_bucket(llq, value));
    }
}

static void test_quantize(void **state)
{
    (void)state;
    assert_int_equal(d_quantize_bucket(0), D_QUANTIZE_ZERO);
    assert_int_equal(d_quantize_bucket(INT64_MIN), 0);
    assert_int_equal(d_quantize_bucket(INT64_MAX), D_QUANTIZE_BUCKETS - 1);
    for (unsigned n = 0; n < 100000; n++) {
        int64_t value = random_value();
        int64_t label = graph_bucket_value(D_AGG_QUANTIZE, 0, d_quantize_bucket(value));
        uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        uint64_t low = label < 0 ? 0 - (uint64_t)label : (uint64_t)label;
        assert_true((value < 0) == (label < 0) && low <= size &&
                    (size == 0 || size < 2 * low || low >> 62));
    }
}

static void test_square(void **state)
{
    struct d_aggregation agg = aggregation(&functions[5]);

    (void)state;
    for (unsigned n = 0; n < 10000; n++) {
        unsigned __int128 sum = 0;
        uint64_t data[4] = {0};
        for (unsigned i = 0; i < 10; i++) {
            int64_t value = random_value();
            __int128 wide = value;
            sum += (unsigned __int128)(wide * wide);
            d_agg_update(&agg, data, (uint64_t)value, 1);
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
    struct d_aggregation agg = aggregation(&functions[5]);
    unsigned n = sizeof(values) / sizeof(*values), carried = 0;

    (void)state;
    for (unsigned pair = 0; pair < n * n; pair++) {
        __int128 one = values[pair / n], other = values[pair % n];
        unsigned __int128 sum = (unsigned __int128)(one * one) + (unsigned __int128)(other * other);
        uint64_t whole[4] = {0}, a[4] = {0}, b[4] = {0};

        d_agg_update(&agg, whole, (uint64_t)one, 1);
        d_agg_update(&agg, whole, (uint64_t)other, 1);
        d_agg_update(&agg, a, (uint64_t)one, 1);
        d_agg_update(&agg, b, (uint64_t)other, 1);
        carried += whole[2] < a[2];
        agg_merge_value(D_AGG_STDDEV, a, b, 4);
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
    struct d_aggregation_info info = {.function = D_AGG_SUM, .nkeys = 1};
    struct d_recdesc recs[2] = {{.kind = D_ACT_DIFEXPR, .size = 4, .offset = 16},
                                {.kind = D_AGG_SUM, .size = 8, .offset = 24}};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_law),      cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_quantize), cmocka_unit_test(test_square),
        cmocka_unit_test(test_carry),    cmocka_unit_test(test_rows),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

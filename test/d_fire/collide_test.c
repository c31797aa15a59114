/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys that somebody chose so that they fall on one chain: drops, counted, not time.
 */
#include "test/d_fire/target.h"

#include <string.h>

static const char value[] = "ldgs arg0 r1; ret r1";

enum { SAME_HASH, SAME_CHAIN };

/* The last step of a table's hash, from what is c before it. */
static uint32_t last_dynamic(uint32_t c)
{
    c *= 0x9e3779b1u;
    return c ^ c >> 15;
}

static uint32_t last_entry(uint32_t c)
{
    c *= 0x85ebca6bu;
    return c ^ c >> 13;
}

/* The n-th key of 8 bytes that brings c to 0, or to something that ends on the first chain. before:
 * what the hash is at its high word. */
static uint64_t bad_key(uint32_t n, int how, uint32_t (*last)(uint32_t), uint32_t before)
{
    uint32_t c = 0;

    for (uint32_t found = 0; how == SAME_CHAIN; c++) {
        found += (last(c) & 0xfff) == 0;
        if (found > n) {
            break;
        }
    }
    return (uint64_t)(before ^ c) << 32 | n;
}

static uint64_t bad_dynamic(uint32_t n, int how)
{
    return bad_key(n, how, last_dynamic, last_dynamic(n));
}

static uint64_t bad_entry(uint32_t n, int how) /* of the aggregation 1 */
{
    uint32_t before = (1 ^ n) * 0x9e3779b1u;

    return bad_key(n, how, last_entry, before ^ before >> 15);
}

static void test_bad_variables(void **state)
{
    static const char store[] = "var a global array value 8; result value 0; ldgs arg0 r1;"
                                "pushtv r1; setx 1 r2; stgaa a r2; ret r0";
    static const char load[] = "var a global array value 8; ldgs arg0 r1; pushtv r1; ldgaa a r2;"
                               "ret r2";

    (void)state;
    clause(target.probe[0], NULL);
    action(D_ACT_DIFEXPR, store);
    clause(target.probe[1], NULL);
    action(D_ACT_DIFEXPR, load);
    start();
    for (unsigned i = 0; i < 10; i++) {
        fire(0, bad_dynamic(i, SAME_HASH));
        assert_int_equal(status().dynamic_drops, i < 4 ? 0 : i - 3);
        fire(1, bad_dynamic(i, SAME_HASH));
    }
    take(0);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(datum(i, 0), i < 4);
    }
    for (unsigned i = 100; i < 130; i++) { /* four are there */
        fire(0, bad_dynamic(i, SAME_CHAIN));
        assert_int_equal(status().dynamic_drops, 6 + (i < 112 ? 0 : i - 111));
    }
}

static void test_bad_entries(void **state)
{
    (void)state;
    clause(target.probe[0], NULL);
    action(D_ACT_DIFEXPR, value);
    action(D_AGG_COUNT, NULL)->nkeys = 1;
    start();
    for (unsigned i = 0; i < 20; i++) {
        fire(0, bad_entry(i % 10, SAME_HASH));
    }
    for (unsigned i = 100; i < 160; i++) {
        fire(0, bad_entry(i, SAME_CHAIN));
    }
    uint64_t first = bad_entry(0, SAME_HASH);
    const uint64_t *n = aggregated(0, 1, &first, 8);
    assert_non_null(n);
    assert_int_equal(*n, 2);
    assert_int_equal(target.snap.drops, 12 + 60 - 44);
    assert_int_equal(target.snap.size, 48 * 32);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, target_open, target_close)
    const struct CMUnitTest tests[] = {
        T(test_bad_variables),
        T(test_bad_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

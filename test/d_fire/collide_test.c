/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys that somebody chose so that they fall on one chain: drops, counted, not time.
 */
#include "test/d_fire/target.h"
#include "trace/d/hash.h"

#include <string.h>

static const char value[] = "ldgs arg0 r1; ret r1";

enum { SAME_HASH, SAME_CHAIN };

static uint32_t hash_of(uint64_t key, uint32_t number)
{
    struct d_hash hash = D_HASH_START;

    d_hash_add(&hash, key);
    return d_hash_end(&hash, number);
}

/* The n-th key of 8 bytes whose hash is 0: the second factor at the end of the hash becomes 0. That
 * is, with x and y the first two factors, y + x * y is a constant; where x is even, a bit of y
 * changes that one bit and those above it, so y is found from its lowest bit up. */
static uint64_t key_of_hash_0(uint32_t n, uint32_t number)
{
    const struct d_hash start = D_HASH_START;
    uint32_t x = 2 * n, y = 0, want = D_HASH_END.b ^ number;

    for (unsigned bit = 0; bit < 32; bit++) {
        y |= ((y + x * y) ^ want) & 1u << bit;
    }
    uint64_t key = (uint64_t)(y ^ start.b) << 32 | (x ^ start.a);
    assert_int_equal(hash_of(key, number), 0);
    return key;
}

/* The n-th key that ends on the first chain. */
static uint64_t key_of_chain_0(uint32_t n, uint32_t number)
{
    uint64_t key = 0;

    for (uint32_t found = 0; found <= n; found += (hash_of(key, number) & 0xfff) == 0) {
        key++;
    }
    return key;
}

static uint64_t bad_dynamic(uint32_t n, int how)
{
    return how == SAME_HASH ? key_of_hash_0(n, 0) : key_of_chain_0(n, 0);
}

static uint64_t bad_entry(uint32_t n, int how)
{
    return how == SAME_HASH ? key_of_hash_0(n, 1) : key_of_chain_0(n, 1);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys that somebody chose so that they fall on one chain: drops, counted, not time.
 */
#include "test/trace/dtrace/fire/target.h"
#include "trace/dtrace/hash.h"

#include <string.h>

static const char value[] = "ldgs arg0 r1; ret r1";

enum { SAME_HASH, SAME_CHAIN };

static uint32_t hash_of(uint64_t key, uint32_t number)
{
    return dtrace_hash_end(dtrace_hash_add(DTRACE_HASH_START, key), number);
}

/* The high half that dtrace_hash_add() leaves is `want`: it grows with that of the key. False: no
 * key with this low half does that. */
static bool high_half(uint32_t low, uint32_t want, uint64_t *key)
{
    uint32_t high = 0;

    for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
        uint64_t word = (uint64_t)(high | bit) << 32 | low;
        if (high + bit <= want && dtrace_hash_add(0, word) >> 32 <= want) {
            high |= bit;
        }
    }
    *key = ((uint64_t)high << 32 | low) ^ DTRACE_HASH_START;
    return dtrace_hash_add(DTRACE_HASH_START, *key) >> 32 == want;
}

/* The n-th key of 8 bytes whose hash is 0, because the second factor at its end is. */
static uint64_t key_of_hash_0(uint32_t n, uint32_t number)
{
    uint64_t key = 0;

    for (uint32_t low = 0, found = 0; found <= n; low++) {
        found += high_half(low, (uint32_t)(DTRACE_HASH_END >> 32) ^ number, &key);
    }
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
    action(DTRACE_ACT_DIFEXPR, store);
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_DIFEXPR, load);
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
    action(DTRACE_ACT_DIFEXPR, value);
    action(DTRACE_AGG_COUNT, NULL)->nkeys = 1;
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

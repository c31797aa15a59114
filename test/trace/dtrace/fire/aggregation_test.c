/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aggregations: one entry for each key, values from every CPU, and drops when there is no room.
 */
#include "test/trace/dtrace/fire/target.h"

#include <stdio.h>
#include <string.h>

static const char value[] = "ldgs arg0 r1; ret r1";

static const char text[] = "result string; ldgs execname r1; ret r1";

static void test_aggregations(void **state)
{
    char key[32] = "a.out";

    (void)state;
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, text);
    action(DTRACE_ACT_DIFEXPR, value);
    struct dtrace_image_action *a = action(DTRACE_AGG_COUNT, NULL);
    a->nkeys = 2;
    a->uarg = 1;
    action(DTRACE_AGG_SUM, value)->uarg = 2;
    start();
    for (uint64_t i = 0; i < 10; i++) {
        fire(0, i % 3);
    }
    fake.execname = "a.outer";
    fire(0, 0);
    const uint64_t *words = aggregated(0, 2, NULL, 0);
    assert_int_equal(*words, 9);
    take(0);
    assert_int_equal(target.nrecords, 0); /* keys are no data */
    static const unsigned want[] = {4, 3, 3};
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < want[i]; k++) {
            fake.execname = k % 2 ? "a.out" : "b.out";
            fire(0, i);
        }
    }
    fake.execname = "a.out";
    fire(0, 1);
    uint8_t both[40];
    memcpy(both, key, 32);
    memset(both + 32, 0, 8);
    both[32] = 1;
    /* The string's field has 32 bytes, and the number after it is at a multiple of 8. */
    assert_int_equal(*aggregated(0, 1, both, 40), 2);
    assert_null(aggregated(0, 1, both, 40)); /* taken */
}

static void test_aggregation_drops(void **state)
{
    unsigned got = 0;

    (void)state;
    image_option(&target.b, DTRACE_OPT_AGGSIZE, 128); /* four entries of 32 bytes */
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    struct dtrace_image_action *a = action(DTRACE_AGG_COUNT, NULL);
    a->nkeys = 1;
    a->uarg = 1;
    start();
    for (uint64_t i = 0; i < 12; i++) {
        fire(0, i % 6);
    }
    uint64_t key = 0;
    const uint64_t *words = aggregated(0, 1, &key, 8);
    assert_int_equal(*words, 2);
    assert_int_equal(target.snap.drops, 4);
    for (size_t at = 0; at < target.snap.size; at += 32) {
        got++;
    }
    assert_int_equal(got, 4);
}

enum { NAMES = 64, KINDS = 3 };
static char names[NAMES][36], name[36];
static unsigned counts[NAMES][KINDS];

static void make_names(void)
{
    memset(names, 0, sizeof(names));
    for (unsigned i = 0; i < NAMES; i++) {
        unsigned length = i < 33 ? i : i - 32;
        memset(names[i], 'x', length);
        if (i >= 33) {
            names[i][i * 7 % length] = 'y';
        }
    }
}

static void count_keys(void)
{
    struct dtrace_image_action *a;

    image_option(&target.b, DTRACE_OPT_AGGSIZE, 1 << 15);
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "result value 2; ldgs arg0 r1; ret r1");
    action(DTRACE_ACT_DIFEXPR, "result string; ldgs execname r1; ret r1");
    action(DTRACE_ACT_DIFEXPR, "result string; ldgs arg1 r1; ret r1");
    a = action(DTRACE_AGG_COUNT, NULL);
    a->nkeys = 3;
    a->uarg = 1;
    start();
    fake_map(name, sizeof(name), true, false);
    fake.execname = name;
}

static void fire_keys(void)
{
    unsigned seed = 7;

    memset(counts, 0, sizeof(counts));
    for (unsigned i = 0; i < 2000; i++) {
        seed = seed * 1103515245 + 12345;
        unsigned n = (seed >> 16) % NAMES, k = (seed >> 24) % KINDS;
        memcpy(name, names[n], sizeof(name));
        counts[n][k]++;
        dtrace_fire(target.probe[0], k, (uintptr_t)name, 0, 0, 0);
    }
}

/* An entry has the count of its keys, which had no other. */
static void check_entry(const uint8_t *e, const struct dtrace_recdesc *recs)
{
    uint16_t k;
    uint64_t count;
    unsigned n = 0;

    memcpy(&k, e + recs[0].offset, 2);
    memcpy(&count, e + recs[3].offset, 8);
    assert_memory_equal(e + recs[1].offset, e + recs[2].offset, 32); /* zeros after them too */
    while (n < NAMES && memcmp(names[n], e + recs[1].offset, 32) != 0) {
        n++;
    }
    assert_true(n < NAMES && k < KINDS);
    assert_int_equal(count, counts[n][k]);
    counts[n][k] = 0;
}

/* Keys that differ in one byte, or in where they end, or only after another key: each is one. */
static void test_keys(void **state)
{
    struct dtrace_recdesc recs[16];
    struct dtrace_agg_desc desc;
    uint32_t nrecs = 16;
    unsigned entries = 0;

    (void)state;
    make_names();
    count_keys();
    fire_keys();
    assert_int_equal(dtrace_aggregation_snap(target.consumer, 0, target.buffer,
                                             sizeof(target.buffer), &target.snap),
                     0);
    assert_int_equal(dtrace_agg_describe(target.consumer, 1, &desc, recs, &nrecs), 0);
    for (size_t at = 0; at < target.snap.size; at += desc.size, entries++) {
        check_entry(target.buffer + at, recs);
    }
    for (unsigned n = 0; n < NAMES; n++) {
        assert_int_equal(counts[n][0] + counts[n][1] + counts[n][2], 0);
    }
    assert_true(entries > 100);
}

/* Leaves other bytes in all of both halves of the buffer. */
static void soil(void)
{
    unsigned seed = 11;

    for (unsigned half = 0; half < 2; half++) {
        for (unsigned i = 0; i < 60; i++) {
            seed = seed * 1103515245 + 12345;
            dtrace_fire(target.probe[1], (uint64_t)seed << 32 | ~seed, seed, 0, 0, 0);
        }
        assert_int_equal(dtrace_aggregation_snap(target.consumer, 0, target.buffer,
                                                 sizeof(target.buffer), &target.snap),
                         0);
    }
}

static unsigned entries(void)
{
    struct dtrace_agg_entry e;
    unsigned n = 0;

    for (size_t at = 0; at < target.snap.size; at += e.size, n++) {
        memcpy(&e, target.buffer + at, sizeof(e));
    }
    return n;
}

/* What lies between a key and the value, where the reader merges entries by all of their bytes. */
static void gaps_are_zero(unsigned size)
{
    struct dtrace_recdesc recs[4];
    struct dtrace_agg_desc desc;
    uint32_t nrecs = 4;

    assert_int_equal(dtrace_agg_describe(target.consumer, 1, &desc, recs, &nrecs), 0);
    for (size_t at = 0; at < target.snap.size; at += desc.size) {
        for (size_t i = recs[0].offset + size; i < recs[1].offset; i++) {
            assert_int_equal(target.buffer[at + i], 0);
        }
    }
}

/* A key of any size is its own bytes: those after it, up to the value, are zeros in an entry,
 * whatever was there. */
static void test_key_sizes(void **state)
{
    static char key[24];
    char of_size[64];

    for (unsigned size = 1; size <= sizeof(key); size++) {
        snprintf(of_size, sizeof(of_size), "result ref %u; ldgs arg1 r1; ret r1", size);
        clause(target.probe[0], NULL);
        action(DTRACE_ACT_DIFEXPR, of_size);
        struct dtrace_image_action *a = action(DTRACE_AGG_COUNT, NULL);
        a->nkeys = a->uarg = 1;
        clause(target.probe[1], NULL);
        action(DTRACE_ACT_DIFEXPR, value);
        action(DTRACE_ACT_DIFEXPR, "ldgs arg1 r1; ret r1");
        a = action(DTRACE_AGG_COUNT, NULL);
        a->nkeys = a->uarg = 2;
        start();
        fake_map(key, sizeof(key), true, false);
        soil();
        for (unsigned i = 0; i < 60; i++) {
            memset(key, 'a' + i % 5, size);
            dtrace_fire(target.probe[0], 0, (uintptr_t)key, 0, 0, 0);
        }
        assert_int_equal(*aggregated(0, 1, key, size), 12);
        assert_int_equal(entries(), 5);
        gaps_are_zero(size);
        target_close(state);
        target_open(state);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, target_open, target_close)
    const struct CMUnitTest tests[] = {
        T(test_aggregations),
        T(test_aggregation_drops),
        T(test_keys),
        T(test_key_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

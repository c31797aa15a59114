/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynamic variables from the first allocation to the last drop: what is free is used, what was
 * given back waits dirty, then rinsing, and each kind of want is counted as what it is.
 */
#include "test/trace/dtrace/fire/target.h"
#include "trace/dtrace/consumer.h"

#include <stdio.h>

static void begin(uint64_t dynvarsize)
{
    image_option(&target.b, DTRACE_OPT_DYNVARSIZE, dynvarsize);
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "var x thread scalar value 8; ldgs arg0 r1; stts x r1; ret r1");
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_DIFEXPR, "var x thread scalar value 8; ldts x r1; ret r1");
    start();
}

static void store(uint64_t thread, uint64_t value)
{
    fake.thread = thread;
    fire(0, value);
}

static uint64_t load(uint64_t thread)
{
    fake.thread = thread;
    fire(1, 0);
    take(0);
    assert_true(target.nrecords > 0);
    return datum(target.nrecords - 1, 0);
}

static void drops(uint64_t none, uint64_t dirty, uint64_t rinsing)
{
    struct dtrace_status s = status();

    assert_int_equal(s.dynamic_drops, none);
    assert_int_equal(s.dynamic_dirty_drops, dirty);
    assert_int_equal(s.dynamic_rinsing_drops, rinsing);
}

static void test_one_always_fits(void **state)
{
    (void)state;
    begin(1);
    store(7, 5);
    assert_int_equal(load(7), 5);
    assert_int_equal(load(8), 0);
    drops(0, 0, 0);
}

static void test_from_free_to_clean(void **state)
{
    (void)state;
    begin(1);
    store(7, 5);
    store(8, 6);
    drops(1, 0, 0);
    assert_int_equal(load(8), 0);
    store(7, 0);
    store(8, 6);
    drops(1, 1, 0);
    dtrace_machine_clean();
    store(8, 6);
    drops(1, 1, 1);
    dtrace_machine_clean();
    store(8, 6);
    drops(1, 1, 1);
    assert_int_equal(load(8), 6);
    assert_int_equal(load(7), 0);
}

static void test_reading_and_zero_take_nothing(void **state)
{
    (void)state;
    begin(1);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(load(i), 0);
        store(i, 0);
    }
    drops(0, 0, 0);
    store(11, 9);
    assert_int_equal(load(11), 9);
}

static void test_a_variable_is_used_again(void **state)
{
    (void)state;
    begin(1);
    for (unsigned i = 0; i < 100; i++) {
        store(7, i + 1);
        assert_int_equal(load(7), i + 1);
    }
    drops(0, 0, 0);
}

static void test_all_come_back(void **state)
{
    enum { ROUNDS = 20, THREADS = 40 };

    (void)state;
    begin(8192);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < THREADS; i++) {
            store(100 * round + i, i + 1);
        }
        for (unsigned i = 0; i < THREADS; i++) {
            assert_int_equal(load(100 * round + i), i + 1);
            store(100 * round + i, 0);
        }
        dtrace_machine_clean();
        dtrace_machine_clean();
    }
    drops(0, 0, 0);
}

/* Given back on one CPU, taken on another; lists of none, one and many are joined. */
static void test_all_cpus_share(void **state)
{
    enum { ROUNDS = 30, VARIABLES = 25 };
    unsigned kept = 0;

    (void)state;
    begin(8192);
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned ones = round % 5 == 0 ? 0 : round % 5 == 1 ? 1 : round % VARIABLES;
        for (unsigned i = 0; i < VARIABLES; i++) {
            fake.cpu = i < ones;
            store(i, round + 1);
        }
        for (unsigned i = 0; i < VARIABLES; i++) {
            fake.cpu = i >= ones;
            store(i, 0);
        }
        fake.cpu = 0;
        dtrace_machine_clean();
        kept += target.consumer->dynvars.rinsing.count == VARIABLES;
        dtrace_machine_clean();
        take(0);
        take(1);
    }
    assert_int_equal(kept, ROUNDS);
    drops(0, 0, 0);
}

/* Who frees all the time must not wait for the usual next time. */
static void test_many_freed_are_cleaned_sooner(void **state)
{
    enum { MANY = 40, SOON = 1 << 20 };

    (void)state;
    begin(8192);
    uint64_t usual = dtrace_machine_clean();
    store(1, 1);
    store(1, 0);
    assert_int_equal(dtrace_machine_clean(), usual);
    for (unsigned i = 0; i < MANY; i++) {
        store(i, 1);
    }
    for (unsigned i = 0; i < MANY; i++) {
        store(i, 0);
    }
    assert_int_equal(dtrace_machine_clean(), SOON);
    assert_int_equal(dtrace_machine_clean(), usual);
}

/* A probe firing takes a few of the free ones for its CPU, however many there are: cost.c counts
 * on it. */
static void test_a_store_fetches_few(void **state)
{
    struct dtrace_dynvars *v;
    unsigned fetched = 1;

    (void)state;
    begin(1 << 20);
    v = &target.consumer->dynvars;
    assert_true(v->nchunks > 1000);
    store(7, 5);
    for (uint32_t link = v->cpus[0].free; link; fetched++) {
        link =
            ((const struct dtrace_chunk *)(v->chunks + (size_t)(link - 1) * v->chunk_bytes))->next;
    }
    assert_int_equal(fetched, DTRACE_DYNVAR_BATCH);
}

enum { KEYS = 3, VARIABLES = 3 };

/* By value, whose and under which key: an array of all threads, one of each thread, and a scalar of
 * each thread, which has no key. */
static const char *const stores[VARIABLES] = {
    "var g global array value 8; ldgs arg0 r1; ldgs arg1 r2; pushtv r2; stgaa g r1; ret r1",
    "var t thread array value 8; ldgs arg0 r1; ldgs arg1 r2; pushtv r2; sttaa t r1; ret r1",
    "var s thread scalar value 8; ldgs arg0 r1; stts s r1; ret r1",
};
static const char *const loads[VARIABLES] = {
    "var g global array value 8; ldgs arg1 r2; pushtv r2; ldgaa g r1; ret r1",
    "var t thread array value 8; ldgs arg1 r2; pushtv r2; ldtaa t r1; ret r1",
    "var s thread scalar value 8; ldts s r1; ret r1",
};

/* What one thread stores under a key every thread finds, or no other, as the scope says. */
static void test_scopes(void **state)
{
    static const uint64_t threads[] = {1, 2, 1ull << 32 | 1, 2ull << 32 | 1};
    enum { THREADS = sizeof(threads) / sizeof(*threads) };
    uint64_t wanted[VARIABLES][THREADS][KEYS] = {0};
    uint32_t seed = 5;

    (void)state;
    image_option(&target.b, DTRACE_OPT_DYNVARSIZE, 1 << 16);
    for (unsigned i = 0; i < VARIABLES; i++) {
        clause(target.probe[i], NULL);
        action(DTRACE_ACT_DIFEXPR, stores[i]);
    }
    clause(target.probe[VARIABLES], NULL);
    for (unsigned i = 0; i < VARIABLES; i++) {
        action(DTRACE_ACT_DIFEXPR, loads[i]);
    }
    start();
    for (unsigned n = 0; n < 3000; n++) {
        seed = seed * 1103515245 + 12345;
        unsigned variable = (seed >> 8) % VARIABLES, thread = (seed >> 12) % THREADS;
        unsigned key = (seed >> 16) % KEYS;
        uint64_t value = (seed >> 20) % 4 ? n + 1 : 0; /* 0: it is freed */

        fake.thread = threads[thread];
        dtrace_fire(target.probe[variable], value, key, 0, 0, 0);
        for (unsigned t = 0; t < THREADS; t++) {
            for (unsigned k = 0; k < KEYS; k++) {
                bool same = (variable == 0 || t == thread) && (variable == 2 || k == key);
                wanted[variable][t][k] = same ? value : wanted[variable][t][k];
            }
        }
        thread = (seed >> 24) % THREADS;
        fake.thread = threads[thread];
        take(0);
        dtrace_fire(target.probe[VARIABLES], 0, key, 0, 0, 0);
        take(0);
        assert_int_equal(target.nrecords, 1);
        for (unsigned i = 0; i < VARIABLES; i++) {
            assert_int_equal(datum(0, i), wanted[i][thread][key]);
        }
        dtrace_machine_clean();
    }
    drops(0, 0, 0);
}

/* Of a variable's data every byte can be stored to, and no byte before or after it: for each size,
 * offset and width of a store. */
static void test_stores_stay_within(void **state)
{
    static const char *const widths[] = {"stb", "sth", "stw", "stx"};

    for (int size = 1; size <= 26; size++) {
        assert_int_equal(target_close(state), 0);
        assert_int_equal(target_open(state), 0);
        for (unsigned i = 0; i < 4; i++) {
            char text[256];

            snprintf(text, sizeof(text),
                     "var a global array ref %d; setx %d r1; allocs r1 r2; setx 3 r4; pushtv r4;"
                     "stgaa a r2; ldgaa a r3; ldgs arg0 r5; add r3 r5 r3; %s r0 r3; ret r0",
                     size, size, widths[i]);
            clause(target.probe[i], NULL);
            action(DTRACE_ACT_DIFEXPR, text);
        }
        start();
        for (unsigned i = 0; i < 4; i++) {
            int width = 1 << i;

            for (int at = -4 * width; at <= size + 4 * width; at += width - at % width) {
                uint64_t errors = status().errors;

                take(0);
                fire(i, (uint64_t)(int64_t)at);
                assert_int_equal(status().errors - errors, at < 0 || at + width > size);
            }
        }
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, target_open, target_close)
    const struct CMUnitTest tests[] = {
        T(test_one_always_fits),
        T(test_from_free_to_clean),
        T(test_reading_and_zero_take_nothing),
        T(test_a_variable_is_used_again),
        T(test_all_come_back),
        T(test_many_freed_are_cleaned_sooner),
        T(test_all_cpus_share),
        T(test_a_store_fetches_few),
        T(test_scopes),
        T(test_stores_stay_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

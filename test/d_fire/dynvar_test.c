/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynamic variables from the first allocation to the last drop: what is free is used, what was
 * given back waits dirty, then rinsing, and each kind of want is counted as what it is.
 */
#include "test/d_fire/target.h"
#include "trace/d/consumer.h"

static void begin(uint64_t dynvarsize)
{
    image_option(&target.b, D_OPT_DYNVARSIZE, dynvarsize);
    clause(target.probe[0], NULL);
    action(D_ACT_DIFEXPR, "var x thread scalar value 8; ldgs arg0 r1; stts x r1; ret r1");
    clause(target.probe[1], NULL);
    action(D_ACT_DIFEXPR, "var x thread scalar value 8; ldts x r1; ret r1");
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
    struct d_status s = status();

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
    d_machine_clean();
    store(8, 6);
    drops(1, 1, 1);
    d_machine_clean();
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
        d_machine_clean();
        d_machine_clean();
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
        d_machine_clean();
        kept += target.consumer->dynvars.rinsing.count == VARIABLES;
        d_machine_clean();
        take(0);
        take(1);
    }
    assert_int_equal(kept, ROUNDS);
    drops(0, 0, 0);
}

/* A firing takes a few of the free ones for its CPU, however many there are: cost.c counts on it.
 */
static void test_a_store_fetches_few(void **state)
{
    struct d_dynvars *v;
    unsigned fetched = 1;

    (void)state;
    begin(1 << 20);
    v = &target.consumer->dynvars;
    assert_true(v->nchunks > 1000);
    store(7, 5);
    for (uint32_t link = v->cpus[0].free; link; fetched++) {
        link = ((const struct d_chunk *)(v->chunks + (size_t)(link - 1) * v->chunk_bytes))->next;
    }
    assert_int_equal(fetched, D_DYNVAR_BATCH);
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
        T(test_all_cpus_share),
        T(test_a_store_fetches_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A consumer that asks for nothing for ten seconds is ended: it records no more, its memory is
 * free, and all it says is that it is dead. The clock is the test's.
 */
#include "test/trace/dtrace/fire/target.h"

#include <errno.h>

enum { SECOND = 1000000000 };

static void trace_on_probe(void)
{
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "ldgs arg0 r1; ret r1");
}

static void begin(void)
{
    trace_on_probe();
    start();
}

static void pass(uint64_t ns)
{
    fake.now += ns;
    dtrace_machine_clean();
}

static void test_one_that_asks_lives(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 5; i++) {
        pass(9ull * SECOND);
        assert_int_equal(status().state, DTRACE_STATE_ACTIVE);
    }
    fire(0, 7);
    take(0);
    assert_int_equal(target.nrecords, 1);
}

/* A host that reads a full buffer over a slow line has no time for another question meanwhile. */
static void test_one_that_only_reads_lives(void **state)
{
    struct dtrace_snap snap;

    (void)state;
    begin();
    for (unsigned i = 0; i < 5; i++) {
        pass(9ull * SECOND);
        int error = i % 2 ? dtrace_aggregation_snap(target.consumer, 0, target.buffer,
                                                    sizeof(target.buffer), &snap)
                          : dtrace_buffer_snap(target.consumer, 0, target.buffer,
                                               sizeof(target.buffer), &snap);
        assert_int_equal(error, 0);
    }
    assert_int_equal(status().state, DTRACE_STATE_ACTIVE);
}

static void test_ten_seconds_are_not_too_long(void **state)
{
    (void)state;
    begin();
    pass(10ull * SECOND - 1000);
    assert_int_equal(status().state, DTRACE_STATE_ACTIVE);
    pass(10ull * SECOND + 1000);
    assert_int_equal(status().state, DTRACE_STATE_KILLED);
}

static void test_nothing_is_left_of_it(void **state)
{
    struct dtrace_snap snap;
    struct dtrace_epid_desc desc;
    struct dtrace_agg_desc agg;
    struct dtrace_recdesc recs[4];
    uint32_t n = 4;

    (void)state;
    size_t before = fake.allocated;
    begin();
    size_t living = fake.allocated;
    fire(0, 7);
    pass(11ull * SECOND);
    assert_true(fake.allocated < living);
    assert_true(fake.allocated - before < 4096); /* but what answers */
    fire(0, 8);
    assert_int_equal(status().state, DTRACE_STATE_KILLED);
    assert_int_equal(
        dtrace_buffer_snap(target.consumer, 0, target.buffer, sizeof(target.buffer), &snap),
        -ESHUTDOWN);
    assert_int_equal(
        dtrace_aggregation_snap(target.consumer, 0, target.buffer, sizeof(target.buffer), &snap),
        -ESHUTDOWN);
    assert_int_equal(dtrace_epid_describe(target.consumer, 1, &desc, recs, &n), -ENOENT);
    assert_int_equal(dtrace_agg_describe(target.consumer, 1, &agg, recs, &n), -ENOENT);
    dtrace_consumer_destroy(target.consumer);
    target.consumer = NULL;
    assert_int_equal(fake.allocated, before);
}

static void test_stop_comes_too_late(void **state)
{
    unsigned cpu;

    (void)state;
    begin();
    pass(11ull * SECOND);
    dtrace_consumer_stop(target.consumer, &cpu);
    assert_int_equal(status().state, DTRACE_STATE_KILLED);
}

static void test_others_live(void **state)
{
    struct dtrace_consumer *other = NULL;
    struct dtrace_status s;
    unsigned cpu;

    (void)state;
    begin();
    const struct dtrace_image *image = target.b.bytes;
    assert_int_equal(dtrace_consumer_create(image, target.b.size, 0, &other, &target.refusal), 0);
    assert_int_equal(dtrace_consumer_go(other, &cpu), 0);
    pass(9ull * SECOND);
    dtrace_consumer_status(other, &s);
    pass(2ull * SECOND);
    dtrace_consumer_status(other, &s);
    assert_int_equal(s.state, DTRACE_STATE_ACTIVE);
    assert_int_equal(status().state, DTRACE_STATE_KILLED);
    fire(0, 1);
    struct dtrace_snap snap;
    assert_int_equal(dtrace_buffer_snap(other, 0, target.buffer, sizeof(target.buffer), &snap), 0);
    assert_true(snap.size > 0);
    dtrace_consumer_destroy(other);
}

/* Before it starts nobody is lost by its silence. */
static void test_one_that_never_began(void **state)
{
    (void)state;
    trace_on_probe();
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
    const struct dtrace_image *image = image_end(&target.b);
    assert_int_equal(
        dtrace_consumer_create(image, target.b.size, 0, &target.consumer, &target.refusal), 0);
    pass(100ull * SECOND);
    assert_int_equal(status().state, DTRACE_STATE_INACTIVE);
}

/* The counters of its variables are its own from its creation to its end, each once. */
static void test_counters(void **state)
{
    (void)state;
    trace_on_probe();
    start();
    assert_int_equal(fake.counted[0] + fake.counted[1], 0);
    target_close(NULL);
    target_open(NULL);
    clause(target.probe[0], "ldgs cycles r1; ret r1");
    action(DTRACE_ACT_DIFEXPR, "ldgs cycles r1; ldgs instructions r2; sub r1 r2 r1; ret r1");
    start();
    assert_int_equal(fake.counted[0], 1);
    assert_int_equal(fake.counted[1], 1);
    pass(11ull * SECOND);
    assert_int_equal(status().state, DTRACE_STATE_KILLED);
    assert_int_equal(fake.counted[0] + fake.counted[1], 0);
    dtrace_consumer_destroy(target.consumer);
    target.consumer = NULL;
    assert_int_equal(fake.counted[0] + fake.counted[1], 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, target_open, target_close)
    const struct CMUnitTest tests[] = {
        T(test_one_that_asks_lives),          T(test_one_that_only_reads_lives),
        T(test_ten_seconds_are_not_too_long), T(test_nothing_is_left_of_it),
        T(test_stop_comes_too_late),          T(test_others_live),
        T(test_one_that_never_began),         T(test_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe fires: what is recorded, where, and when not; predicates and the thread that remembers
 * them; records without room; exit(); actions that touch more than the record.
 */
#include "test/trace/dtrace/fire/target.h"

#include <stdio.h>
#include <string.h>

static const char value[] = "ldgs arg0 r1; ret r1";

static const char text[] = "result string; ldgs execname r1; ret r1";

static void test_record(void **state)
{
    (void)state;
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "result value 1; ldgs arg1 r1; ret r1");
    action(DTRACE_ACT_DIFEXPR, value);
    action(DTRACE_ACT_DIFEXPR, text);
    action(DTRACE_ACT_DIFEXPR, "result value 4; ldgs id r1; ret r1");
    start();
    fake.now = 0x123456789abc;
    fire(0, 0x1122334455667788);
    fire(0, 5);
    fire(1, 6); /* nobody is there */
    take(0);
    assert_int_equal(target.nrecords, 2);
    assert_int_equal(target.snap.drops, 0);
    assert_int_equal(target.records[0].epid, 1);
    assert_int_equal(target.records[0].time, 0x123456789abc + 1000);
    assert_true(target.records[1].time > target.records[0].time);
    assert_int_equal(datum(0, 0), 11);
    assert_int_equal(datum(0, 1), 0x1122334455667788);
    assert_string_equal(datum_text(0, 2), "a.out");
    assert_int_equal(datum(0, 3), target.probe[0]);
    assert_int_equal(datum(1, 1), 5);
    take(0);
    assert_int_equal(target.nrecords, 0);
    take(1);
    assert_int_equal(target.nrecords, 0);
    fake.cpu = 1;
    fire(0, 7);
    take(1);
    assert_int_equal(target.nrecords, 1);
    assert_int_equal(datum(0, 1), 7);
}

/* A clause has one time: what its predicate saw is its record's. */
static void test_time(void **state)
{
    (void)state;
    clause(target.probe[0], "var t global scalar value 8; ldgs timestamp r1; stgs t r1; ret r1");
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "var t global scalar value 8; result value 8; ldgs t r1; ret r1");
    clause(target.probe[0], "ldgs timestamp r1; ret r1");
    action(DTRACE_ACT_DIFEXPR, "result value 8; ldgs timestamp r1; ret r1");
    start();
    fire(0, 1);
    take(0);
    assert_int_equal(target.nrecords, 3);
    assert_int_equal(target.records[0].time, datum(1, 0));
    assert_true(target.records[1].time > target.records[0].time);
    assert_int_equal(target.records[2].time, datum(2, 0));
}

/* What is there to be recorded when an action records nothing. */
static void test_nothing(void **state)
{
    (void)state;
    clause(target.probe[0], NULL); /* { } */
    clause(target.probe[1], NULL); /* { x = arg0; } */
    action(DTRACE_ACT_DIFEXPR,
           "var x global scalar value 8; result value 0; ldgs arg0 r1; stgs x r1;"
           "ret r1");
    clause(target.probe[2], NULL);
    action(DTRACE_ACT_DIFEXPR, "var x global scalar value 8; ldgs x r1; ret r1");
    clause(target.probe[3], NULL);
    action(DTRACE_ACT_PRINTF, NULL);
    start();
    fire(0, 1);
    fire(1, 99);
    fire(2, 2);
    fire(3, 3);
    take(0);
    assert_int_equal(target.nrecords, 3);
    assert_int_equal(target.records[0].size, sizeof(struct dtrace_record));
    assert_int_equal(target.records[1].epid, 3);
    assert_int_equal(datum(1, 0), 99);
    assert_int_equal(target.records[2].size, sizeof(struct dtrace_record));
}

static void test_predicate(void **state)
{
    (void)state;
    clause(target.probe[0], value);
    action(DTRACE_ACT_DIFEXPR, value);
    clause(target.probe[0], "ldgs arg0 r1; setx 3 r2; cmp r1 r2; setx 1 r3; be l; mov r0 r3;"
                            "l: ret r3");
    action(DTRACE_ACT_DIFEXPR, value);
    start();
    for (uint64_t i = 0; i < 5; i++) {
        fire(0, i);
    }
    take(0);
    assert_int_equal(target.nrecords, 5);
    static const unsigned epids[] = {1, 1, 1, 2, 1};
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(target.records[i].epid, epids[i]);
    }
    assert_int_equal(fake.state.predicate_cache, 0); /* these hang on more than the thread */
}

static void test_cached(void **state)
{
    (void)state;
    clause(target.probe[0], "var t thread scalar value 8; ldts t r1; ret r1");
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_DIFEXPR,
           "var t thread scalar value 8; result value 0; ldgs arg0 r1; stts t r1;"
           "ret r1");
    start();
    fire(0, 1);
    assert_int_not_equal(fake.state.predicate_cache, 0);
    fire(0, 1);
    fire(1, 0); /* stored: looks again, and finds it still false */
    assert_int_equal(fake.state.predicate_cache, 0);
    fire(0, 1);
    assert_int_not_equal(fake.state.predicate_cache, 0);
    fire(1, 5);
    fire(0, 1);
    fire(0, 1);
    take(0);
    assert_int_equal(target.nrecords, 2);
}

/* Two clauses on a probe: the one whose predicate is remembered must not hide the other. */
static void test_cached_beside(void **state)
{
    (void)state;
    clause(target.probe[0], "ldgs pid r1; setx 1 r2; cmp r1 r2; setx 1 r3; be l; mov r0 r3;"
                            "l: ret r3");
    clause(target.probe[0], NULL);
    start();
    fire(0, 1);
    fire(0, 1);
    take(0);
    assert_int_equal(target.nrecords, 2);
    assert_int_equal(target.records[0].epid, 2);
}

static void test_no_room(void **state)
{
    (void)state;
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 64);
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, text); /* 44 bytes */
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_DIFEXPR, "result value 4; ldgs arg0 r1; ret r1"); /* 16 bytes */
    start();
    fire(0, 1);
    fire(0, 2);
    fire(1, 3); /* a smaller one fits */
    fire(1, 4);
    take(0);
    assert_int_equal(target.nrecords, 2);
    assert_int_equal(target.snap.drops, 2);
    fire(0, 5);
    take(0);
    assert_int_equal(target.nrecords, 1);
    assert_int_equal(target.snap.drops, 0);
}

/* The action isn't run when its record has no room; but exit() is. */
/* Under every policy, as the record is larger than the buffer. */
static void test_exit_without_room(void **state)
{
    unsigned cpu;

    (void)state;
    for (unsigned policy = DTRACE_POLICY_SWITCH; policy <= DTRACE_POLICY_RING; policy++) {
        image_option(&target.b, DTRACE_OPT_BUFSIZE, 16);
        image_option(&target.b, DTRACE_OPT_BUFPOLICY, policy);
        clause(target.probe[0], NULL);
        action(DTRACE_ACT_DIFEXPR,
               "var x global scalar value 8; result value 4; setx 1 r1; stgs x r1;"
               "ret r1");
        action(DTRACE_ACT_EXIT, "result value 4; setx 3 r1; ret r1");
        clause(target.probe[1], NULL);
        start();
        fire(0, 0);
        assert_int_equal(status().exited, 1);
        assert_int_equal(status().exit_status, 3);
        assert_int_equal(status().exit_dropped, 1);
        assert_int_equal(status().state, DTRACE_STATE_DRAINING);
        fire(1, 0); /* nothing fires any more */
        dtrace_consumer_stop(target.consumer, &cpu);
        take(0);
        assert_int_equal(target.nrecords, 0);
        assert_int_equal(target.snap.drops, 1);
        target_close(NULL);
        target_open(NULL);
    }
}

/* A status that can't be had is none; nor does the clause end anything. */
static void test_exit_fault_without_room(void **state)
{
    (void)state;
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_EXIT, "result value 4; setx 1 r1; udiv r1 r0 r1; ret r1");
    action(DTRACE_ACT_TRACEMEM, value)->arg = 5000;
    start();
    fire(0, 1);
    assert_int_equal(status().exited, 0);
    assert_int_equal(status().errors, 1);
    take(0);
    assert_int_equal(target.snap.drops, 1);
}

static void test_exit(void **state)
{
    unsigned cpu;

    (void)state;
    clause(BEGIN_, NULL);
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_EXIT, "result value 4; ldgs arg0 r1; ret r1");
    action(DTRACE_ACT_DIFEXPR, value); /* the clause finishes */
    clause(target.probe[0], NULL);     /* no later one runs */
    clause(END_, NULL);
    clause(END_, NULL);
    start();
    fire(0, (uint64_t)-2);
    fire(0, 9);
    assert_int_equal(status().exit_status, -2);
    assert_int_equal(status().exit_dropped, 0);
    dtrace_consumer_stop(target.consumer, &cpu);
    fire(0, 10);
    take(0);
    assert_int_equal(target.nrecords, 4);
    static const unsigned epids[] = {1, 2, 4, 5};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(target.records[i].epid, epids[i]);
    }
    assert_int_equal(datum(1, 0), (uint32_t)-2);
    assert_int_equal(datum(1, 1), (uint64_t)-2);
}

/* Sizes whose product is more than there are addresses. */
static void test_impossible_sizes(void **state)
{
    (void)state;
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_SPECULATE, "result value 4; setx 1 r1; ret r1");
    action(DTRACE_ACT_DIFEXPR, value);
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
    image_option(&target.b, DTRACE_OPT_SPECSIZE, (uint64_t)1 << 60);
    image_option(&target.b, DTRACE_OPT_NSPEC, 65536);
    image_option(&target.b, DTRACE_OPT_BUFRESIZE, DTRACE_RESIZE_MANUAL);
    const struct dtrace_image *image = image_end(&target.b);
    assert_int_equal(
        dtrace_consumer_create(image, target.b.size, 0, &target.consumer, &target.refusal), -12);
    target.consumer = NULL;
}

static void test_tracemem(void **state)
{
    static char memory[8] = "memory";

    (void)state;
    error_clause();
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_TRACEMEM, value)->arg = 8;
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_TRACEMEM_DYNSIZE, value)->arg = 6;
    action(DTRACE_ACT_DIFEXPR, "setx 3 r1; ret r1");
    start();
    fake_map(memory, 7, true, false);
    fire(1, (uintptr_t)memory);
    fire(0, (uintptr_t)memory);
    take(0);
    assert_int_equal(target.nrecords, 2);
    assert_memory_equal(target.records[0].data + 12, "memory", 6);
    assert_int_equal(datum(0, 1), 3);
    expect_error(1,
                 (const uint64_t[5]){2, 1, UINT64_MAX, DIF_FAULT_BADADDR, (uintptr_t)memory + 7});
}

static void test_destructive(void **state)
{
    (void)state;
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_STOP, NULL);
    action(DTRACE_ACT_RAISE, value);
    action(DTRACE_ACT_BREAKPOINT, NULL);
    action(DTRACE_ACT_PANIC, NULL);
    action(DTRACE_ACT_LOGSTOP, NULL);
    start();
    fire(0, 9);
    assert_int_equal(fake.logstops, 1);
    assert_int_equal(fake.stops + fake.panics + fake.breakpoints, 3);
    assert_int_equal(fake.raised, 9);
    take(0);
    assert_int_equal(target.nrecords, 0);
}

static void test_stacks(void **state)
{
    uint64_t frames[5];

    (void)state;
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_STACK, NULL)->arg = 5;
    action(DTRACE_ACT_USTACK, NULL)->arg = 2;
    start();
    fire(0, 9);
    take(0);
    assert_int_equal(target.nrecords, 1);
    memcpy(frames, target.records[0].data + 16, 40);
    static const uint64_t want[5] = {0x1000, 0x2000, 0x3000, 0, 0};
    assert_memory_equal(frames, want, 40);
    memcpy(frames, target.records[0].data + 56, 24);
    static const uint64_t user[3] = {42, 0x1001, 0x2001};
    assert_memory_equal(frames, user, 24);
}

/* Scratch of the predicate is still there in the actions, and beside the record. */
static void test_scratch(void **state)
{
    (void)state;
    clause(target.probe[0],
           "var p global scalar value 8; setx 16 r1; pushtv r1; call alloca r2; ldgs arg0 r3;"
           "stx r3 r2; stgs p r2; setx 1 r1; ret r1");
    action(DTRACE_ACT_DIFEXPR, value);
    action(DTRACE_ACT_DIFEXPR, "var p global scalar value 8; ldgs p r1; ldx r1 r2; ret r2");
    start();
    for (uint64_t i = 0; i < 20; i++) {
        fire(0, 1000 + i);
    }
    take(0);
    assert_int_equal(target.nrecords, 20);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(datum(i, 0), 1000 + i);
        assert_int_equal(datum(i, 1), 1000 + i);
    }
}

/* An element may be stored to up to its own end, even if a larger one had room there. */
static void test_element_bounds(void **state)
{
    static const char vars[] = "var a global array ref 5; var b global array ref 32;";
    char store[200];

    (void)state;
    clause(target.probe[0], NULL); /* both exist */
    snprintf(store, sizeof(store),
             "%s result value 0; setx 8 r1; allocs r1 r2; stgaa a r2; setx 32 r1; allocs r1 r2;"
             "stgaa b r2; ret r0",
             vars);
    action(DTRACE_ACT_DIFEXPR, store);
    clause(target.probe[1], NULL); /* a[…][arg0] = 1 */
    snprintf(store, sizeof(store),
             "%s result value 0; ldgs arg0 r1; ldgaa a r2; add r1 r2 r2; stb r1 r2; ret r0", vars);
    action(DTRACE_ACT_DIFEXPR, store);
    start();
    fire(0, 0);
    for (unsigned i = 0; i < 40; i++) {
        fire(1, i);
        assert_int_equal(status().errors, i < 5 ? 0 : i - 4);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, target_open, target_close)
    const struct CMUnitTest tests[] = {
        T(test_record),
        T(test_time),
        T(test_nothing),
        T(test_predicate),
        T(test_cached),
        T(test_cached_beside),
        T(test_no_room),
        T(test_exit_without_room),
        T(test_exit_fault_without_room),
        T(test_exit),
        T(test_destructive),
        T(test_stacks),
        T(test_element_bounds),
        T(test_scratch),
        T(test_impossible_sizes),
        T(test_tracemem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

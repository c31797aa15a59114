/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors in clauses: what ERROR is told, and that nothing is left of the probe firing that failed.
 */
#include "test/trace/dtrace/fire/target.h"

#include <string.h>

static const char value[] = "ldgs arg0 r1; ret r1";

static const char load_arg0[] = "ldgs arg0 r1; nop; ldub r1 r2; ret r2";

static void test_fault(void **state)
{
    (void)state;
    error_clause();
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    action(DTRACE_ACT_DIFEXPR, load_arg0);
    clause(target.probe[0], NULL); /* later clauses run */
    start();
    fire(0, 64);
    take(0);
    assert_int_equal(target.nrecords, 2);
    assert_int_equal(target.snap.errors, 1);
    expect_error(0, (const uint64_t[5]){2, 2, 8, DIF_FAULT_BADADDR, 64});
    assert_int_equal(target.records[1].epid, 3);
    assert_int_equal(status().errors, 1);
    assert_int_equal(status().double_errors, 0);
}

static void test_fault_in_predicate(void **state)
{
    (void)state;
    error_clause();
    clause(target.probe[0], "setx 1 r1; udiv r1 r0 r2; ret r2");
    start();
    fire(0, 64);
    take(0);
    assert_int_equal(target.nrecords, 1);
    expect_error(0, (const uint64_t[5]){2, 0, 4, DIF_FAULT_DIVZERO, 0});
}

/* The string that is recorded faults when it is copied: that is no instruction's. */
static void test_fault_in_copy(void **state)
{
    (void)state;
    error_clause();
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "result string; ldgs arg0 r1; ret r1");
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_DIFEXPR, "result ref 8; ldgs arg0 r1; ret r1");
    start();
    fire(0, 0);
    fire(1, 0x7000);
    take(0);
    assert_int_equal(target.nrecords, 2);
    expect_error(0, (const uint64_t[5]){2, 1, UINT64_MAX, DIF_FAULT_BADADDR, 0});
    expect_error(1, (const uint64_t[5]){3, 1, UINT64_MAX, DIF_FAULT_BADADDR, 0x7000});
}

static void test_fault_in_error(void **state)
{
    (void)state;
    clause(ERROR_, NULL);
    action(DTRACE_ACT_DIFEXPR, load_arg0); /* arg0 is 0 */
    clause(ERROR_, NULL);
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, load_arg0);
    start();
    fire(0, 64);
    take(0);
    assert_int_equal(target.nrecords, 1);
    assert_int_equal(target.records[0].epid, 2);
    assert_int_equal(status().errors, 2);
    assert_int_equal(status().double_errors, 1);
}

static void expect_own_errors(struct dtrace_consumer *c, uint64_t faults)
{
    struct dtrace_status s;

    target.consumer = c;
    take(0);
    assert_int_equal(target.nrecords, 2);
    assert_int_equal(target.records[0].epid, 1);
    assert_int_equal(target.records[1].epid, 3);
    dtrace_consumer_status(c, &s);
    assert_int_equal(s.errors, faults);
}

/* ERROR fires for the program that faulted only: all of its clauses, wherever they stand in it,
 * beside those of another program, before and after that has ended. */
static void test_own_error_only(void **state)
{
    struct dtrace_consumer *first, *second;
    unsigned cpu;

    (void)state;
    clause(ERROR_, NULL);
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, load_arg0);
    clause(ERROR_, NULL);
    start();
    first = target.consumer;
    assert_int_equal(
        dtrace_consumer_create(target.b.bytes, target.b.size, 0, &second, &target.refusal), 0);
    assert_int_equal(dtrace_consumer_go(second, &cpu), 0);
    fire(0, 64);
    expect_own_errors(first, 1);
    expect_own_errors(second, 1);
    dtrace_consumer_stop(first, &cpu);
    fire(0, 64);
    expect_own_errors(second, 2);
    dtrace_consumer_destroy(second);
    target.consumer = first;
    take(0);
    assert_int_equal(target.nrecords, 0);
}

/* What a faulting clause did before stays done; its record and its aggregation's entry do not. */
static void test_fault_leaves(void **state)
{
    (void)state;
    clause(target.probe[0], NULL);
    action(DTRACE_AGG_COUNT, NULL)->uarg = 1;
    action(DTRACE_ACT_DIFEXPR, load_arg0)->uarg = 0;
    struct dtrace_image_action *a = action(DTRACE_AGG_SUM, value);
    a->uarg = 2;
    a->nkeys = 1;
    start();
    fire(0, 64);
    assert_int_equal(status().errors, 1);
    assert_int_equal(*aggregated(0, 1, NULL, 0), 1);
    assert_null(aggregated(0, 2, NULL, 0));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, target_open, target_close)
    const struct CMUnitTest tests[] = {
        T(test_fault),          T(test_fault_in_predicate), T(test_fault_in_copy),
        T(test_fault_in_error), T(test_fault_leaves),       T(test_own_error_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

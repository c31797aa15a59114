/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * speculate(), commit() and discard(): what a commit copies, when, and what is refused.
 */
#include "test/trace/dtrace/fire/target.h"

#include <string.h>

static const char value[] = "ldgs arg0 r1; ret r1";

static void test_speculation(void **state)
{
    const char *const id = "result value 4; ldgs arg0 r1; ret r1";

    (void)state;
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "result value 4; call speculation r1; ret r1");
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_SPECULATE, id);
    action(DTRACE_ACT_DIFEXPR, value);
    clause(target.probe[2], NULL);
    action(DTRACE_ACT_COMMIT, id);
    clause(target.probe[3], NULL);
    action(DTRACE_ACT_DISCARD, id);
    image_option(&target.b, DTRACE_OPT_NSPEC, 2);
    start();
    fire(0, 0);
    take(0);
    assert_int_equal(datum(0, 0), 1);
    fire(1, 1);
    fire(1, 0); /* no speculation: abandoned */
    fire(1, 7);
    take(0);
    assert_int_equal(target.nrecords, 0);
    fire(2, 1);
    take(0);
    assert_int_equal(target.nrecords, 1);
    assert_int_equal(datum(0, 0), 1);
    fire(0, 0);
    fire(1, 2);
    fire(3, 2);
    fire(2, 2); /* nothing is left */
    take(0);
    assert_int_equal(target.nrecords, 1);
    fire(2, 7); /* there is none */
    assert_int_equal(status().errors, 1);
    fire(2, 0);
    assert_int_equal(status().errors, 1);
}

/* What is committed has the time of that: it is after all that was taken before. */
static void test_commit_time(void **state)
{
    const char *const one = "result value 4; setx 1 r1; ret r1";

    (void)state;
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "result value 4; call speculation r1; ret r1");
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_SPECULATE, one);
    action(DTRACE_ACT_DIFEXPR, value);
    clause(target.probe[2], NULL);
    action(DTRACE_ACT_COMMIT, one);
    start();
    fire(0, 0);
    fire(1, 5);
    fake.cpu = 1;
    fire(1, 6);
    fake.cpu = 0;
    take(1);
    uint64_t taken = target.snap.taken;
    take(0);
    fire(2, 0);
    uint64_t before = target.snap.taken;
    take(0);
    assert_int_equal(target.nrecords, 1);
    assert_int_equal(datum(0, 0), 5);
    assert_true(target.records[0].time > before);
    dtrace_machine_clean();
    take(1);
    assert_int_equal(target.nrecords, 1);
    assert_int_equal(datum(0, 0), 6);
    assert_true(target.records[0].time > taken);
}

/* The committed records lie where the scratch of that clause was. What it still points there may
 * not be stored through, and what it makes afterwards lies after. */
static void test_commit_scratch(void **state)
{
    const char *const one = "result value 4; setx 1 r1; ret r1";
    static const char store[] =
        "var p global scalar value 8; result value 0; setx -1 r1; ldgs p r2;"
        "stx r1 r2; ret r0";
    static const char make[] = "var p global scalar value 8; result value 0; setx 64 r1; pushtv r1;"
                               "call alloca r1; stgs p r1; ret r0";

    (void)state;
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "result value 4; call speculation r1; ret r1");
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_SPECULATE, one);
    action(DTRACE_ACT_DIFEXPR, value);
    clause(target.probe[2], NULL); /* p = alloca(64); commit(1); *p = -1; */
    action(DTRACE_ACT_DIFEXPR, make);
    action(DTRACE_ACT_COMMIT, one);
    action(DTRACE_ACT_DIFEXPR, store);
    clause(target.probe[3], NULL); /* commit(1); p = alloca(64); *p = -1; */
    action(DTRACE_ACT_COMMIT, one);
    action(DTRACE_ACT_DIFEXPR, make);
    action(DTRACE_ACT_DIFEXPR, store);
    start();
    for (unsigned probe = 2; probe < 4; probe++) {
        fire(0, 0);
        fire(1, 77);
        fire(1, 78);
        fire(probe, 0);
        assert_int_equal(status().errors, 1); /* of the first */
        take(0);
        assert_int_equal(target.nrecords, 3);
        assert_int_equal(datum(1, 0), 77);
        assert_int_equal(datum(2, 0), 78);
        dtrace_machine_clean();
    }
}

/* What no compiler makes: data and commit() in one clause. */
static void test_commit_refused(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        image_begin(&target.b);
        clause(target.probe[0], NULL);
        for (unsigned i = 0; i < 2; i++) {
            if (i == first) {
                action(DTRACE_ACT_PRINTF, NULL);
            } else {
                action(DTRACE_ACT_COMMIT, "result value 4; setx 1 r1; ret r1");
            }
        }
        image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
        const struct dtrace_image *image = image_end(&target.b);
        assert_int_equal(
            dtrace_consumer_create(image, target.b.size, 0, &target.consumer, &target.refusal),
            -22);
        target.consumer = NULL;
    }
}

/* That is no instruction's fault. */
static void test_speculation_fault(void **state)
{
    (void)state;
    error_clause();
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_COMMIT, "result value 4; ldgs arg0 r1; ret r1");
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_DISCARD, "result value 4; ldgs arg0 r1; ret r1");
    start();
    fire(0, 9);
    fire(1, (uint64_t)-1);
    take(0);
    assert_int_equal(target.nrecords, 2);
    expect_error(0, (const uint64_t[5]){2, 1, UINT64_MAX, DIF_FAULT_ILLOP, 0});
    expect_error(1, (const uint64_t[5]){3, 1, UINT64_MAX, DIF_FAULT_ILLOP, 0});
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, target_open, target_close)
    const struct CMUnitTest tests[] = {
        T(test_speculation),    T(test_commit_time),       T(test_commit_scratch),
        T(test_commit_refused), T(test_speculation_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

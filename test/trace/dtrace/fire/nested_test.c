/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe that fires inside of a clause: nothing of the clause under way is spoilt, and each clause
 * that could not run is a drop of the CPU where that was. The test is the kernel here: it knows
 * that a probe is firing, and then calls dtrace_probe_nested().
 */
#include "test/trace/dtrace/fire/target.h"
#include "trace/dtrace/consumer.h"

static const char value[] = "ldgs arg0 r1; ret r1";

static uint32_t outer, inner[2];

/* arg5 and on of the outer probe: while they are looked up, other probes fire. */
static uint64_t argument(uint32_t probe, void *arg, unsigned n)
{
    (void)arg;
    if (probe == outer) {
        dtrace_probe_nested(dtrace_probe_at(inner[0]));
        dtrace_probe_nested(dtrace_probe_at(inner[1]));
        dtrace_probe_nested(dtrace_probe_at(outer));
    }
    return n;
}

static const struct dtrace_provider_ops ops = {.argument = argument};
static const struct dtrace_provider provider = {"nesting", &ops};

static int open_nested(void **state)
{
    static bool made;

    target_open(state);
    if (!made) {
        dtrace_provider_register(&provider);
    }
    made = true;
    outer = dtrace_probe_create(&provider, "", "", "outer", NULL);
    inner[0] = dtrace_probe_create(&provider, "", "", "one", NULL);
    inner[1] = dtrace_probe_create(&provider, "", "", "two", NULL);
    return 0;
}

static void test_the_clause_goes_on(void **state)
{
    (void)state;
    clause(outer, NULL);
    action(DTRACE_ACT_DIFEXPR,
           "result string; ldgs arg6 r1; pushtv r1; call lltostr r2; ldgs arg7 r1;"
           "ret r2");
    action(DTRACE_ACT_DIFEXPR, value);
    clause(inner[0], NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    clause(inner[0], "ret r0"); /* nobody can tell whether it would have recorded */
    action(DTRACE_ACT_DIFEXPR, value);
    start();
    dtrace_fire(outer, 5, 0, 0, 0, 0);
    dtrace_fire(inner[0], 6, 0, 0, 0, 0);
    take(0);
    assert_int_equal(target.nrecords, 2);
    assert_string_equal(datum_text(0, 0), "6");
    assert_int_equal(datum(0, 1), 5);
    assert_int_equal(datum(1, 0), 6);
    assert_int_equal(target.snap.drops, 2 * 3); /* two look-ups of three clauses */
    take(0);
    assert_int_equal(target.snap.drops, 0);
    take(1);
    assert_int_equal(target.snap.drops, 0);
}

/* A drop of that CPU, beside those that had no room; not of who isn't there any more. */
static void test_where(void **state)
{
    unsigned cpu;

    (void)state;
    clause(inner[0], NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 24);
    dtrace_probe_nested(dtrace_probe_at(inner[0])); /* nobody is there yet */
    start();
    fake.cpu = 1;
    dtrace_probe_nested(dtrace_probe_at(inner[0]));
    for (unsigned i = 0; i < 3; i++) {
        dtrace_fire(inner[0], i, 0, 0, 0, 0);
    }
    dtrace_probe_nested(dtrace_probe_at(inner[1]));
    fake.cpu = 0;
    take(0);
    assert_int_equal(target.snap.drops, 0);
    take(1);
    assert_int_equal(target.snap.drops, 1 + 2);
    assert_int_equal(target.nrecords, 1);
    dtrace_consumer_stop(target.consumer, &cpu);
    dtrace_probe_nested(dtrace_probe_at(inner[0]));
    take(0);
    assert_int_equal(target.snap.drops, 0);
}

static void test_a_cpu_that_is_not_traced(void **state)
{
    (void)state;
    clause(inner[0], NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    image_option(&target.b, DTRACE_OPT_CPU, 1);
    start();
    dtrace_probe_nested(dtrace_probe_at(inner[0]));
    assert_int_equal(target.consumer->cpus[0].principal.drops, 0);
    fake.cpu = 1;
    dtrace_probe_nested(dtrace_probe_at(inner[0]));
    fake.cpu = 0;
    assert_int_equal(target.consumer->cpus[1].principal.drops, 1);
}

/* Its ECBs run aside: their states stand elsewhere. */
static void test_of_who_logs(void **state)
{
    unsigned cpu;

    (void)state;
    clause(inner[0], NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
    const struct dtrace_image *image = image_end(&target.b);
    assert_int_equal(dtrace_consumer_create(image, target.b.size, DTRACE_CREATE_LOG,
                                            &target.consumer, &target.refusal),
                     0);
    dtrace_probe_nested(dtrace_probe_at(inner[0]));
    assert_int_equal(dtrace_consumer_go(target.consumer, &cpu), 0);
    assert_int_equal(target.consumer->cpus[0].principal.drops, 0);
    dtrace_probe_nested(dtrace_probe_at(inner[0]));
    assert_int_equal(target.consumer->cpus[0].principal.drops, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_nested, target_close)
    const struct CMUnitTest tests[] = {
        T(test_the_clause_goes_on),
        T(test_where),
        T(test_a_cpu_that_is_not_traced),
        T(test_of_who_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

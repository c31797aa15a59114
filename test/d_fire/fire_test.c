/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe fires: what is recorded, where, and when not; predicates and the thread that remembers
 * them; records without room; faults and ERROR; exit(); speculations.
 */
#include "test/d_fire/target.h"

#include <stdio.h>
#include <string.h>

static const char value[] = "ldgs arg0 r1; ret r1";
static const char text[] = "result string; ldgs execname r1; ret r1";

static void test_record(void **state)
{
    (void)state;
    clause(target.probe[0], NULL);
    action(D_ACT_DIFEXPR, "result value 1; ldgs arg1 r1; ret r1");
    action(D_ACT_DIFEXPR, value);
    action(D_ACT_DIFEXPR, text);
    action(D_ACT_DIFEXPR, "result value 4; ldgs id r1; ret r1");
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
    action(D_ACT_DIFEXPR, "var t global scalar value 8; result value 8; ldgs t r1; ret r1");
    clause(target.probe[0], "ldgs timestamp r1; ret r1");
    action(D_ACT_DIFEXPR, "result value 8; ldgs timestamp r1; ret r1");
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
    action(D_ACT_DIFEXPR, "var x global scalar value 8; result value 0; ldgs arg0 r1; stgs x r1;"
                          "ret r1");
    clause(target.probe[2], NULL);
    action(D_ACT_DIFEXPR, "var x global scalar value 8; ldgs x r1; ret r1");
    clause(target.probe[3], NULL);
    action(D_ACT_PRINTF, NULL);
    start();
    fire(0, 1);
    fire(1, 99);
    fire(2, 2);
    fire(3, 3);
    take(0);
    assert_int_equal(target.nrecords, 3);
    assert_int_equal(target.records[0].size, sizeof(struct d_record));
    assert_int_equal(target.records[1].epid, 3);
    assert_int_equal(datum(1, 0), 99);
    assert_int_equal(target.records[2].size, sizeof(struct d_record));
}

static void test_predicate(void **state)
{
    (void)state;
    clause(target.probe[0], value);
    action(D_ACT_DIFEXPR, value);
    clause(target.probe[0], "ldgs arg0 r1; setx 3 r2; cmp r1 r2; setx 1 r3; be l; mov r0 r3;"
                            "l: ret r3");
    action(D_ACT_DIFEXPR, value);
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
    assert_int_equal(fake.predicate_cache, 0); /* these hang on more than the thread */
}

static void test_cached(void **state)
{
    (void)state;
    clause(target.probe[0], "var t thread scalar value 8; ldts t r1; ret r1");
    clause(target.probe[1], NULL);
    action(D_ACT_DIFEXPR, "var t thread scalar value 8; result value 0; ldgs arg0 r1; stts t r1;"
                          "ret r1");
    start();
    fire(0, 1);
    assert_int_not_equal(fake.predicate_cache, 0);
    fire(0, 1);
    fire(1, 0); /* stored: looks again, and finds it still false */
    assert_int_equal(fake.predicate_cache, 0);
    fire(0, 1);
    assert_int_not_equal(fake.predicate_cache, 0);
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
    image_option(&target.b, D_OPT_BUFSIZE, 64);
    clause(target.probe[0], NULL);
    action(D_ACT_DIFEXPR, text); /* 44 bytes */
    clause(target.probe[1], NULL);
    action(D_ACT_DIFEXPR, "result value 4; ldgs arg0 r1; ret r1"); /* 16 bytes */
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
    for (unsigned policy = D_POLICY_SWITCH; policy <= D_POLICY_RING; policy++) {
        image_option(&target.b, D_OPT_BUFSIZE, 16);
        image_option(&target.b, D_OPT_BUFPOLICY, policy);
        clause(target.probe[0], NULL);
        action(D_ACT_DIFEXPR, "var x global scalar value 8; result value 4; setx 1 r1; stgs x r1;"
                              "ret r1");
        action(D_ACT_EXIT, "result value 4; setx 3 r1; ret r1");
        clause(target.probe[1], NULL);
        start();
        fire(0, 0);
        assert_int_equal(status().exited, 1);
        assert_int_equal(status().exit_status, 3);
        assert_int_equal(status().exit_dropped, 1);
        assert_int_equal(status().state, D_STATE_DRAINING);
        fire(1, 0); /* nothing fires any more */
        d_consumer_stop(target.consumer, &cpu);
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
    action(D_ACT_EXIT, "result value 4; setx 1 r1; udiv r1 r0 r1; ret r1");
    action(D_ACT_TRACEMEM, value)->arg = 5000;
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
    action(D_ACT_EXIT, "result value 4; ldgs arg0 r1; ret r1");
    action(D_ACT_DIFEXPR, value);  /* the clause finishes */
    clause(target.probe[0], NULL); /* no later one runs */
    clause(END_, NULL);
    clause(END_, NULL);
    start();
    fire(0, (uint64_t)-2);
    fire(0, 9);
    assert_int_equal(status().exit_status, -2);
    assert_int_equal(status().exit_dropped, 0);
    d_consumer_stop(target.consumer, &cpu);
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

/* ---- faults ------------------------------------------------------------------------------------
 */

static const char load_arg0[] = "ldgs arg0 r1; nop; ldub r1 r2; ret r2";

/* What ERROR is told. */
static void error_clause(void)
{
    clause(ERROR_, NULL);
    for (unsigned i = 1; i <= 5; i++) {
        char object[64];
        snprintf(object, sizeof(object), "ldgs arg%u r1; ret r1", i);
        action(D_ACT_DIFEXPR, object);
    }
}

static void expect_error(unsigned record, const uint64_t want[5])
{
    assert_int_equal(target.records[record].epid, 1);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(datum(record, i), want[i]);
    }
}

static void test_fault(void **state)
{
    (void)state;
    error_clause();
    clause(target.probe[0], NULL);
    action(D_ACT_DIFEXPR, value);
    action(D_ACT_DIFEXPR, load_arg0);
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
    action(D_ACT_DIFEXPR, "result string; ldgs arg0 r1; ret r1");
    clause(target.probe[1], NULL);
    action(D_ACT_DIFEXPR, "result ref 8; ldgs arg0 r1; ret r1");
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
    action(D_ACT_DIFEXPR, load_arg0); /* arg0 is 0 */
    clause(ERROR_, NULL);
    clause(target.probe[0], NULL);
    action(D_ACT_DIFEXPR, load_arg0);
    start();
    fire(0, 64);
    take(0);
    assert_int_equal(target.nrecords, 1);
    assert_int_equal(target.records[0].epid, 2);
    assert_int_equal(status().errors, 2);
    assert_int_equal(status().double_errors, 1);
}

/* What a faulting clause did before stays done; its record and its aggregation's entry do not. */
static void test_fault_leaves(void **state)
{
    (void)state;
    clause(target.probe[0], NULL);
    action(D_AGG_COUNT, NULL)->uarg = 1;
    action(D_ACT_DIFEXPR, load_arg0)->uarg = 0;
    struct d_image_action *a = action(D_AGG_SUM, value);
    a->uarg = 2;
    a->nkeys = 1;
    start();
    fire(0, 64);
    assert_int_equal(status().errors, 1);
    assert_int_equal(*aggregated(0, 1, NULL, 0), 1);
    assert_null(aggregated(0, 2, NULL, 0));
}

/* ---- aggregations ------------------------------------------------------------------------------
 */

static void test_aggregations(void **state)
{
    char key[32] = "a.out";

    (void)state;
    clause(target.probe[0], NULL);
    action(D_ACT_DIFEXPR, text);
    action(D_ACT_DIFEXPR, value);
    struct d_image_action *a = action(D_AGG_COUNT, NULL);
    a->nkeys = 2;
    a->uarg = 1;
    action(D_AGG_SUM, value)->uarg = 2;
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
    /* The string's field has 32 bytes, and the number behind it is at a multiple of 8. */
    assert_int_equal(*aggregated(0, 1, both, 40), 2);
    assert_null(aggregated(0, 1, both, 40)); /* taken */
}

static void test_aggregation_drops(void **state)
{
    unsigned got = 0;

    (void)state;
    image_option(&target.b, D_OPT_AGGSIZE, 128); /* four entries of 32 bytes */
    clause(target.probe[0], NULL);
    action(D_ACT_DIFEXPR, value);
    struct d_image_action *a = action(D_AGG_COUNT, NULL);
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

/* Keys that differ in one byte, or in where they end, or only behind another key: each is one. */
static void test_keys(void **state)
{
    static char names[64][36];
    static unsigned counts[64][3];
    static char name[36];
    unsigned seed = 7, entries = 0;

    (void)state;
    image_option(&target.b, D_OPT_AGGSIZE, 1 << 15);
    clause(target.probe[0], NULL);
    action(D_ACT_DIFEXPR, "result value 2; ldgs arg0 r1; ret r1");
    action(D_ACT_DIFEXPR, "result string; ldgs execname r1; ret r1");
    action(D_ACT_DIFEXPR, "result string; ldgs arg1 r1; ret r1");
    struct d_image_action *a = action(D_AGG_COUNT, NULL);
    a->nkeys = 3;
    a->uarg = 1;
    start();
    fake_map(name, sizeof(name), true, false);
    fake.execname = name;
    for (unsigned i = 0; i < 64; i++) {
        unsigned length = i < 33 ? i : i - 32;
        memset(names[i], 'x', length);
        if (i >= 33) {
            names[i][i * 7 % length] = 'y';
        }
    }
    memset(counts, 0, sizeof(counts));
    for (unsigned i = 0; i < 2000; i++) {
        seed = seed * 1103515245 + 12345;
        unsigned n = (seed >> 16) % 64, k = (seed >> 24) % 3;
        memcpy(name, names[n], sizeof(name));
        counts[n][k]++;
        d_fire(target.probe[0], k, (uintptr_t)name, 0, 0, 0);
    }
    assert_int_equal(
        d_aggregation_snap(target.consumer, 0, target.buffer, sizeof(target.buffer), &target.snap),
        0);
    struct d_recdesc recs[16];
    uint32_t nrecs = 16;
    struct d_agg_desc desc;
    assert_int_equal(d_agg_describe(target.consumer, 1, &desc, recs, &nrecs), 0);
    for (size_t at = 0; at < target.snap.size; at += desc.size, entries++) {
        const uint8_t *e = target.buffer + at;
        uint16_t k;
        uint64_t count;
        unsigned n = 0;
        memcpy(&k, e + recs[0].offset, 2);
        memcpy(&count, e + recs[3].offset, 8);
        assert_memory_equal(e + recs[1].offset, e + recs[2].offset, 32); /* zeros behind them too */
        while (n < 64 && memcmp(names[n], e + recs[1].offset, 32) != 0) {
            n++;
        }
        assert_true(n < 64 && k < 3);
        assert_int_equal(count, counts[n][k]);
        counts[n][k] = 0;
    }
    for (unsigned n = 0; n < 64; n++) {
        assert_int_equal(counts[n][0] + counts[n][1] + counts[n][2], 0);
    }
    assert_true(entries > 100);
}

/* ---- speculations ------------------------------------------------------------------------------
 */

static void test_speculation(void **state)
{
    const char *const id = "result value 4; ldgs arg0 r1; ret r1";

    (void)state;
    clause(target.probe[0], NULL);
    action(D_ACT_DIFEXPR, "result value 4; call speculation r1; ret r1");
    clause(target.probe[1], NULL);
    action(D_ACT_SPECULATE, id);
    action(D_ACT_DIFEXPR, value);
    clause(target.probe[2], NULL);
    action(D_ACT_COMMIT, id);
    clause(target.probe[3], NULL);
    action(D_ACT_DISCARD, id);
    image_option(&target.b, D_OPT_NSPEC, 2);
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
    action(D_ACT_DIFEXPR, "result value 4; call speculation r1; ret r1");
    clause(target.probe[1], NULL);
    action(D_ACT_SPECULATE, one);
    action(D_ACT_DIFEXPR, value);
    clause(target.probe[2], NULL);
    action(D_ACT_COMMIT, one);
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
    d_machine_clean();
    take(1);
    assert_int_equal(target.nrecords, 1);
    assert_int_equal(datum(0, 0), 6);
    assert_true(target.records[0].time > taken);
}

/* The committed records lie where the scratch of that clause was. What it still points there may
 * not be stored through, and what it makes afterwards lies behind. */
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
    action(D_ACT_DIFEXPR, "result value 4; call speculation r1; ret r1");
    clause(target.probe[1], NULL);
    action(D_ACT_SPECULATE, one);
    action(D_ACT_DIFEXPR, value);
    clause(target.probe[2], NULL); /* p = alloca(64); commit(1); *p = -1; */
    action(D_ACT_DIFEXPR, make);
    action(D_ACT_COMMIT, one);
    action(D_ACT_DIFEXPR, store);
    clause(target.probe[3], NULL); /* commit(1); p = alloca(64); *p = -1; */
    action(D_ACT_COMMIT, one);
    action(D_ACT_DIFEXPR, make);
    action(D_ACT_DIFEXPR, store);
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
        d_machine_clean();
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
                action(D_ACT_PRINTF, NULL);
            } else {
                action(D_ACT_COMMIT, "result value 4; setx 1 r1; ret r1");
            }
        }
        image_option(&target.b, D_OPT_BUFSIZE, 4096);
        const struct d_image *image = image_end(&target.b);
        assert_int_equal(
            d_consumer_create(image, target.b.size, 0, &target.consumer, &target.refusal), -22);
        target.consumer = NULL;
    }
}

/* Sizes whose product is more than there are addresses. */
static void test_impossible_sizes(void **state)
{
    (void)state;
    clause(target.probe[1], NULL);
    action(D_ACT_SPECULATE, "result value 4; setx 1 r1; ret r1");
    action(D_ACT_DIFEXPR, value);
    image_option(&target.b, D_OPT_BUFSIZE, 4096);
    image_option(&target.b, D_OPT_SPECSIZE, (uint64_t)1 << 60);
    image_option(&target.b, D_OPT_NSPEC, 65536);
    image_option(&target.b, D_OPT_BUFRESIZE, D_RESIZE_MANUAL);
    const struct d_image *image = image_end(&target.b);
    assert_int_equal(d_consumer_create(image, target.b.size, 0, &target.consumer, &target.refusal),
                     -12);
    target.consumer = NULL;
}

/* That is no instruction's fault. */
static void test_speculation_fault(void **state)
{
    (void)state;
    error_clause();
    clause(target.probe[0], NULL);
    action(D_ACT_COMMIT, "result value 4; ldgs arg0 r1; ret r1");
    clause(target.probe[1], NULL);
    action(D_ACT_DISCARD, "result value 4; ldgs arg0 r1; ret r1");
    start();
    fire(0, 9);
    fire(1, (uint64_t)-1);
    take(0);
    assert_int_equal(target.nrecords, 2);
    expect_error(0, (const uint64_t[5]){2, 1, UINT64_MAX, DIF_FAULT_ILLOP, 0});
    expect_error(1, (const uint64_t[5]){3, 1, UINT64_MAX, DIF_FAULT_ILLOP, 0});
}

static void test_tracemem(void **state)
{
    static char memory[8] = "memory";

    (void)state;
    error_clause();
    clause(target.probe[0], NULL);
    action(D_ACT_TRACEMEM, value)->arg = 8;
    clause(target.probe[1], NULL);
    action(D_ACT_TRACEMEM_DYNSIZE, value)->arg = 6;
    action(D_ACT_DIFEXPR, "setx 3 r1; ret r1");
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

/* ---- the others --------------------------------------------------------------------------------
 */

static void test_destructive(void **state)
{
    (void)state;
    clause(target.probe[0], NULL);
    action(D_ACT_STOP, NULL);
    action(D_ACT_RAISE, value);
    action(D_ACT_BREAKPOINT, NULL);
    action(D_ACT_PANIC, NULL);
    action(D_ACT_LOGSTOP, NULL);
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
    action(D_ACT_STACK, NULL)->arg = 5;
    action(D_ACT_USTACK, NULL)->arg = 2;
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
    action(D_ACT_DIFEXPR, value);
    action(D_ACT_DIFEXPR, "var p global scalar value 8; ldgs p r1; ldx r1 r2; ret r2");
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
    action(D_ACT_DIFEXPR, store);
    clause(target.probe[1], NULL); /* a[…][arg0] = 1 */
    snprintf(store, sizeof(store),
             "%s result value 0; ldgs arg0 r1; ldgaa a r2; add r1 r2 r2; stb r1 r2; ret r0", vars);
    action(D_ACT_DIFEXPR, store);
    start();
    fire(0, 0);
    for (unsigned i = 0; i < 40; i++) {
        fire(1, i);
        assert_int_equal(status().errors, i < 5 ? 0 : i - 4);
    }
}

/* ---- keys that all fall on one chain -----------------------------------------------------------
 */

enum { SAME_HASH, SAME_CHAIN };

/* The last step of a table's hash, from what is c before it. */
static uint32_t last_dynamic(uint32_t c)
{
    c *= 0x9e3779b1u;
    return c ^ c >> 15;
}

static uint32_t last_entry(uint32_t c)
{
    c *= 0x85ebca6bu;
    return c ^ c >> 13;
}

/* The n-th key of 8 bytes that brings c to 0, or to something that ends on the first chain. before:
 * what the hash is at its high word. */
static uint64_t bad_key(uint32_t n, int how, uint32_t (*last)(uint32_t), uint32_t before)
{
    uint32_t c = 0;

    for (uint32_t found = 0; how == SAME_CHAIN; c++) {
        found += (last(c) & 0xfff) == 0;
        if (found > n) {
            break;
        }
    }
    return (uint64_t)(before ^ c) << 32 | n;
}

static uint64_t bad_dynamic(uint32_t n, int how)
{
    return bad_key(n, how, last_dynamic, last_dynamic(n));
}

static uint64_t bad_entry(uint32_t n, int how) /* of the aggregation 1 */
{
    uint32_t before = (1 ^ n) * 0x9e3779b1u;

    return bad_key(n, how, last_entry, before ^ before >> 15);
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
        T(test_fault),
        T(test_fault_in_predicate),
        T(test_fault_in_copy),
        T(test_fault_in_error),
        T(test_fault_leaves),
        T(test_aggregations),
        T(test_aggregation_drops),
        T(test_speculation),
        T(test_destructive),
        T(test_stacks),
        T(test_bad_variables),
        T(test_bad_entries),
        T(test_element_bounds),
        T(test_scratch),
        T(test_keys),
        T(test_commit_time),
        T(test_commit_scratch),
        T(test_commit_refused),
        T(test_impossible_sizes),
        T(test_speculation_fault),
        T(test_tracemem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dtrace_max_cost: a program is made up to the very step, and refused one step below it; what the
 * refusal names; and that a limit is only ever lowered.
 */
#include "test/trace/dtrace/fire/target.h"
#include "trace/dtrace/control.h"
#include "trace/dtrace/limit.h"
#include "trace/dtrace/machine.h"

#include <stdio.h>
#include <string.h>

enum { E2BIG_ = 7 };
static const char value[] = "ldgs arg0 r1; ret r1";

static int open_limit(void **state)
{
    dtrace_max_cost = 0;
    return target_open(state);
}

static int close_limit(void **state)
{
    dtrace_max_cost = 0;
    return target_close(state);
}

/* Two clauses on p0, one on p1, and what a fault records. */
static const struct dtrace_image *program(void)
{
    target_close(NULL);
    target_open(NULL);
    target.consumer = NULL;
    error_clause();
    clause(target.probe[0], "setx 1 r1; ret r1");
    action(DTRACE_ACT_DIFEXPR, value);
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_DIFEXPR, value);
    clause(target.probe[0], NULL)->clause = 6;
    action(DTRACE_ACT_DIFEXPR, "setx 1 r1; ldgs arg0 r2; add r1 r2 r1; ret r1");
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
    return image_end(&target.b);
}

static int create(const struct dtrace_image *image)
{
    int error = dtrace_consumer_create(image, target.b.size, 0, &target.consumer, &target.refusal);

    target.consumer = error ? NULL : target.consumer;
    return error;
}

/* What the clauses of p0 may take together. */
static uint64_t bound(const struct dtrace_image *image)
{
    struct dtrace_bounding by = {.weights = &dtrace_weights_steps, .strsize = 256};

    by.error = dtrace_error_bound(image, &by);
    assert_true(by.error > 5 * 2);
    return dtrace_ecb_bound(image, 1, &by) + dtrace_ecb_bound(image, 3, &by);
}

static void test_to_the_step(void **state)
{
    char want[120];

    (void)state;
    uint64_t steps = bound(program());
    dtrace_max_cost = (uint32_t)steps;
    assert_int_equal(create(program()), 0);
    dtrace_max_cost = (uint32_t)steps - 1;
    assert_int_equal(create(program()), -E2BIG_);
    assert_int_equal(target.refusal.reason, DTRACE_REASON_MAX_COST);
    snprintf(want, sizeof(want),
             "clause 7: a firing takes up to %u steps, dtrace_max_cost is %u: ", (unsigned)steps,
             (unsigned)steps - 1);
    assert_memory_equal(target.refusal.text, want, strlen(want));
    assert_string_equal(target.refusal.text + strlen(want), "test:m:f:p0");
    dtrace_max_cost = 0;
    assert_int_equal(create(program()), 0);
}

/* The consumers that there are at a probe count, too, until they are destroyed. */
static void test_sum(void **state)
{
    struct dtrace_refusal why;
    struct dtrace_consumer *first, *second;

    (void)state;
    const struct dtrace_image *image = program();
    uint64_t steps = bound(image);
    dtrace_max_cost = (uint32_t)(2 * steps);
    assert_int_equal(dtrace_consumer_create(image, image->size, 0, &first, &why), 0);
    assert_int_equal(dtrace_consumer_create(image, image->size, 0, &second, &why), 0);
    dtrace_consumer_destroy(second);
    dtrace_max_cost = (uint32_t)(2 * steps - 1);
    assert_int_equal(dtrace_consumer_create(image, image->size, 0, &second, &why), -E2BIG_);
    assert_int_equal(why.reason, DTRACE_REASON_MAX_COST);
    dtrace_consumer_destroy(first);
    assert_int_equal(dtrace_consumer_create(image, image->size, 0, &second, &why), 0);
    dtrace_consumer_destroy(second);
}

/* The clauses of ERROR are added for a fault, but not for a fault of themselves. */
static void test_error(void **state)
{
    (void)state;
    const struct dtrace_image *image = program();
    struct dtrace_bounding by = {.weights = &dtrace_weights_steps, .strsize = 256}, plain = by;
    uint64_t error = by.error = dtrace_error_bound(image, &by);
    assert_int_equal(error, dtrace_ecb_bound(image, 0, &plain));
    assert_int_equal(dtrace_ecb_bound(image, 1, &by) - error, dtrace_ecb_bound(image, 1, &plain));
    target_close(NULL);
    target_open(NULL);
    target.consumer = NULL;
    error_clause();
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
    dtrace_max_cost = (uint32_t)error;
    assert_int_equal(create(image_end(&target.b)), 0);
}

/* A clause of so many actions, each of which takes 1.2e18 steps. */
static void create_huge(unsigned actions)
{
    clause(target.probe[0], NULL);
    for (unsigned i = 0; i < actions; i++) {
        action(DTRACE_ACT_DIFEXPR, "setx 4096 r1; ldx r1 r1; pushtv r1; pushtv r1; pushtv r1;"
                                   "call strstr r1; ret r1");
    }
    image_option(&target.b, DTRACE_OPT_BUFSIZE, 4096);
    image_option(&target.b, DTRACE_OPT_STRSIZE, DTRACE_STRSIZE_MAX);
    dtrace_max_cost = UINT32_MAX;
    assert_int_equal(create(image_end(&target.b)), -E2BIG_);
    assert_int_equal(target.refusal.reason, DTRACE_REASON_MAX_COST);
}

/* A bound beyond 32 bits is no small one. */
static void test_huge(void **state)
{
    (void)state;
    create_huge(9);
    assert_non_null(strstr(target.refusal.text, " takes up to 10376293541461623024 steps,"));
}

/* Nor is one beyond 64 bits, and the message has no figure of it. */
static void test_boundless(void **state)
{
    (void)state;
    create_huge(16);
    assert_string_equal(
        target.refusal.text,
        "clause 1: a firing has no bound, dtrace_max_cost is 4294967295: test:m:f:p0");
}

static void test_lowered(void **state)
{
    struct kymo_d_call call = {.command = KYMO_D_LIMIT};
    static const struct {
        uint32_t asked, in_force;
    } rows[] = {{0, 0}, {500, 500}, {0, 500}, {501, 500}, {499, 499}, {UINT32_MAX, 499}, {1, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        call = (struct kymo_d_call){.command = KYMO_D_LIMIT, .id = rows[i].asked};
        assert_int_equal(dtrace_control("a", DTRACE_MAY_KERNEL, &call, NULL, NULL), 0);
        assert_int_equal(call.id, rows[i].in_force);
        assert_int_equal(dtrace_max_cost, rows[i].in_force);
    }
    call = (struct kymo_d_call){.command = KYMO_D_LIMIT};
    assert_int_equal(dtrace_control("a", DTRACE_MAY_OWN, &call, NULL, NULL), -1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_limit, close_limit)
    const struct CMUnitTest tests[] = {T(test_to_the_step), T(test_sum),       T(test_error),
                                       T(test_huge),        T(test_boundless), T(test_lowered)};

    return cmocka_run_group_tests_name("d_fire_limit", tests, NULL, NULL);
}

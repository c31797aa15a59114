/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work of the flow grows with a capture's events, whatever somebody has made of them: its
 * lists are walked for a few steps an event (struct flow's `steps`), for the captures of
 * test/host/fabricate/mkhostile.c. No time decides it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host/flow/own.h"
#include "test/host/fabricate/mkcapture.h"
#include "test/host/support.h"

#define MANY 3000
#define STEPS_OF_EVENT 8

/* Reads the whole capture. Returns how many events it has. */
static uint64_t capacity_read(struct kev_capture *capture, struct flow *flow)
{
    const struct kev_item *item;
    struct flow_step step;
    uint64_t events = 0;

    while (kev_capture_next(capture, &item) == KEV_GIVEN) {
        if (item->kind == KEV_ITEM_EVENT) {
            events++;
            assert_int_equal(flow_take(flow, item, &step), 0);
        }
    }
    flow_end(flow);
    return events;
}

static struct flow *capacity_flow(const struct mk *mk, struct kev_capture *capture)
{
    static const struct flow_ops ops = {.thread = NULL};

    assert_true(kev_capture_open_memory(capture, mk->bytes, mk->len, "made.kev") >= 0);
    return flow_new(capture, false, &ops, NULL);
}

static void test_work_grows_with_events(void **state)
{
    bool good = true;

    (void)state;
    for (const struct mk_hostile *kind = mk_hostiles; kind->name != NULL; kind++) {
        struct mk *mk = mk_hostile_make(kind->name, MANY);
        struct kev_capture *capture = kev_capture_new();
        struct flow *flow = capacity_flow(mk, capture);
        uint64_t events = capacity_read(capture, flow);

        assert_true(events > MANY);
        if (flow->steps > STEPS_OF_EVENT * events) {
            print_error("%s: %llu steps for %llu events\n", kind->name,
                        (unsigned long long)flow->steps, (unsigned long long)events);
            good = false;
        }
        flow_free(flow);
        kev_capture_free(capture);
        mk_free(mk);
    }
    assert_true(good);
}

/* Threads beyond the most that may live at once are unknown, and flow_doubt() says so; the others
 * are followed as before. */
static void test_too_many_threads_are_said(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        struct mk *mk = mk_hostile_make("threads", 100 + more);
        struct kev_capture *capture = kev_capture_new();
        struct flow *flow = capacity_flow(mk, capture);
        unsigned ready, unknown;

        assert_null(flow_doubt(flow));
        flow->live_most = 100;
        capacity_read(capture, flow);
        assert_int_equal(flow->live, 100);
        assert_int_equal(flow_doubt(flow) != NULL, more);
        flow_count(flow, &ready, &unknown);
        assert_int_equal(unknown, 100); /* at the capture's end */
        flow_free(flow);
        kev_capture_free(capture);
        mk_free(mk);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_work_grows_with_events),
                                       cmocka_unit_test(test_too_many_threads_are_said)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

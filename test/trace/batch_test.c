/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several events at once (trace/log_batch.h), and trace_log2_usual(): each is what trace_log2() and
 * trace_log4() record one by one, or does nothing and says so: at each distance from the mark, from
 * the end and from a wrap of the clock, with a clock that stands, stopped, without a buffer.
 */
#include "test/trace/look.h"

#include "trace/hook.h"
#include "trace/log_batch.h"

enum { EVENTS = 5, SLOTS = 7, STATE_A = 3, STATE_B = 5 };

static uint32_t number;

/* Three of COMM, two of PR_TH with four words. */
static bool batch(void)
{
    struct trace_batch b;

    if (!trace_batch_begin(&b, SLOTS)) {
        return false;
    }
    trace_batch_count(&b, TRACE_CLASS_COMM, 3);
    trace_batch_count(&b, TRACE_CLASS_PR_TH, 2);
    for (unsigned i = 0; i < EVENTS; i++, number++) {
        if (i % 2 == 0) {
            trace_batch_put2(&b, TRACE_CLASS_COMM, 10 + i, number, ~number);
        } else {
            trace_batch_put4(&b, TRACE_CLASS_PR_TH, i == 1 ? STATE_A : STATE_B,
                             (const uint32_t[4]){number, i, 2, 3});
        }
    }
    trace_batch_end(&b);
    return true;
}

static void one_by_one(void)
{
    for (unsigned i = 0; i < EVENTS; i++, number++) {
        if (i % 2 == 0) {
            trace_log2(TRACE_CLASS_COMM, 10 + i, number, ~number);
        } else {
            trace_log4(TRACE_CLASS_PR_TH << TRACE_CLASS_SHIFT | (i == 1 ? STATE_A : STATE_B),
                       (const uint32_t[4]){number, i, 2, 3});
        }
    }
}

/* The next events of a scan are the batch that begins with this number. */
static void expect_batch(struct scan *scan, uint32_t first)
{
    for (unsigned i = 0; i < EVENTS; i++) {
        do {
            assert_true(scan_next(scan));
        } while (scan->seen.class != TRACE_CLASS_COMM && scan->seen.class != TRACE_CLASS_PR_TH);
        assert_int_equal(scan->seen.words[0], first + i);
        if (i % 2 == 0) {
            assert_int_equal(scan->seen.class, TRACE_CLASS_COMM);
            assert_int_equal(scan->seen.number, 10 + i);
            assert_int_equal(scan->seen.nwords, 2);
            assert_int_equal(scan->seen.words[1], ~(first + i));
        } else {
            assert_int_equal(scan->seen.class, TRACE_CLASS_PR_TH);
            assert_int_equal(scan->seen.number, i == 1 ? STATE_A : STATE_B);
            assert_int_equal(scan->seen.nwords, 4);
            assert_int_equal(scan->seen.words[1], i);
            assert_int_equal(scan->seen.words[3], 3);
        }
    }
}

static void events_in_order_with_stamps(void **state)
{
    struct scan scan = {.last_time = 0};
    uint64_t time;

    (void)state;
    start_one();
    insert_events(1);
    fake_pass(0, 1000);
    uint32_t first = number;
    assert_true(batch());
    assert_int_equal(trace_host_irq_depth, 0);
    if (!batch()) { /* the clock has gone on by less than the batch is long */
        assert_int_equal(TRACE_PORT_CLOCK_BITS, 32);
        one_by_one();
    }
    scan_begin(&scan, 0, look_slots(0, 0), look_active_slots(0), 1, 0);
    expect_batch(&scan, first);
    time = scan.seen.time;
    expect_batch(&scan, first + EVENTS);
    assert_true(scan.seen.time >= time + EVENTS);
    assert_false(scan_next(&scan));
    assert_int_equal(loss_of(0).made, 1 + 2 * EVENTS);
    end_tracing();
}

/* At a clock that stands: a 32-bit one may have wrapped, so each event looks for itself. */
static void a_clock_that_stands(void **state)
{
    struct tally tally = {.last = 0};

    (void)state;
    start_one();
    insert_events(1);
    fake.tick = 0;
    for (unsigned i = 0; i < 10; i++) {
        bool done = batch();
        assert_int_equal(done, TRACE_PORT_CLOCK_BITS == 64);
        if (!done) {
            one_by_one();
        }
    }
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(take_all(&tally), 1);
    assert_int_equal(tally.events[TRACE_CLASS_COMM], 30);
    assert_int_equal(tally.events[TRACE_CLASS_PR_TH], 20);
    end_tracing();
}

/* It is taken if it ends at the mark, or before; the mark's own event asks for the exit. */
static void at_the_mark_and_the_end(void **state)
{
    (void)state;
    for (unsigned to_end = 0; to_end < 2; to_end++) {
        for (unsigned left = 0; left <= 2 * SLOTS; left++) {
            struct tally tally = {.last = 0};
            unsigned limit = to_end ? TRACE_BUFFER_SLOTS : 40, before = limit - 2 - left;

            fake_boot(1);
            start_tracing(3, _NTO_TRACE_SETLINEARMODE);
            fake.tick = 10;
            assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, limit), 0);
            insert_events(before);
            assert_false(fake_exit_wanted(0));
            bool done = batch();
            assert_int_equal(done, left >= SLOTS);
            if (done) {
                assert_false(fake_exit_wanted(0));
                assert_int_equal(look_active_slots(0), before + 2 + SLOTS);
            } else {
                one_by_one();
                assert_true(to_end || fake_exit_wanted(0));
            }
            assert_int_equal(loss_of(0).made, before + EVENTS);
            assert_int_equal(command(_NTO_TRACE_STOP), 0);
            take_all(&tally);
            assert_int_equal(tally.events[TRACE_CLASS_USER], before);
            assert_int_equal(tally.events[TRACE_CLASS_COMM], 3);
            assert_int_equal(tally.events[TRACE_CLASS_PR_TH], 2);
            assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
        }
    }
}

/* No stamp of a batch is behind a wrap of which there is no TIME. */
static void at_a_wrap(void **state)
{
    unsigned taken = 0;

    (void)state;
    for (unsigned left = 0; left <= 4 * TRACE_BATCH_SLOTS; left++) {
        struct scan scan = {.last_time = 0};

        fake_boot(1);
        start_tracing(2, _NTO_TRACE_SETLINEARMODE);
        insert_events(1);
        const uint64_t wrap = ((fake.clock[0] >> 32) + 1) << 32;
        fake_pass(0, wrap - 200 - fake.clock[0]);
        insert_events(1);
        fake_pass(0, wrap - left - fake.clock[0]);
        uint32_t first = number;
        bool done = batch();
        taken += done;
        if (!done) {
            one_by_one();
        }
        bool again = batch();
        if (!again) {
            one_by_one();
        }
        fake_pass(0, 1000);
        insert_events(1);
        scan_begin(&scan, 0, look_slots(0, 0), look_active_slots(0), 1, 0);
        expect_batch(&scan, first);
        expect_batch(&scan, first + EVENTS);
        assert_int_equal(loss_of(0).made, 3 + 2 * EVENTS);
        assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    }
    assert_in_range(taken, 1, 4 * TRACE_BATCH_SLOTS);
}

static void stopped_or_without_a_buffer(void **state)
{
    struct tally tally = {.last = 0};
    const uint32_t code = TRACE_CLASS_USER << TRACE_CLASS_SHIFT | 9;

    (void)state;
    start_one();
    assert_int_equal(command(_NTO_TRACE_SKIPBUFFER), 0);
    assert_false(batch()); /* no buffer is ACTIVE yet */
    assert_false(trace_log2_usual(TRACE_CLASS_USER, code, 1, 2));
    assert_int_equal(loss_of(0).made, 0);
    insert_events(2 * (TRACE_BUFFER_SLOTS - 2));
    for (unsigned i = 0; i < 3; i++) {
        assert_false(batch());
        assert_false(trace_log2_usual(TRACE_CLASS_USER, code, 1, 2));
        one_by_one();
    }
    assert_int_equal(loss_of(0).lost[TRACE_CLASS_COMM], 9);
    assert_int_equal(loss_of(0).lost[TRACE_CLASS_PR_TH], 6);
    assert_int_equal(loss_of(0).lost[TRACE_CLASS_USER], 0);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(take_all(&tally), 2);
    assert_false(batch());
    assert_false(trace_log2_usual(TRACE_CLASS_USER, code, 1, 2));
    assert_int_equal(trace_host_irq_depth, 0);
    assert_int_equal(loss_of(0).made, 2 * (TRACE_BUFFER_SLOTS - 2) + 15);
    end_tracing();
}

static void usual_or_not(void **state)
{
    (void)state;
    for (unsigned left = 0; left < 4; left++) {
        const uint32_t code = TRACE_CLASS_USER << TRACE_CLASS_SHIFT | 9;

        fake_boot(1);
        start_tracing(3, _NTO_TRACE_SETLINEARMODE);
        fake.tick = 10;
        assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, 40), 0);
        insert_events(40 - 2 - left);
        for (unsigned i = 0; i < left; i++) {
            assert_true(trace_log2_usual(TRACE_CLASS_USER, code, i, left));
            const struct trace_slot *slot = look_slots(0, 0) + 40 - left + i;
            assert_int_equal(slot->header, code);
            assert_int_equal(slot->d1, i);
            assert_int_equal(slot->d2, left);
            assert_true(slot->time > slot[-1].time);
        }
        assert_false(trace_log2_usual(TRACE_CLASS_USER, code, 1, 2));
        assert_false(fake_exit_wanted(0));
        assert_int_equal(loss_of(0).made, 38);
        assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_in_order_with_stamps), cmocka_unit_test(a_clock_that_stands),
        cmocka_unit_test(at_the_mark_and_the_end),     cmocka_unit_test(at_a_wrap),
        cmocka_unit_test(stopped_or_without_a_buffer), cmocka_unit_test(usual_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

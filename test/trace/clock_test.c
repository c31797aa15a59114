/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time: stamps rise by at least 1 from event to event of a CPU, and the 64-bit time that a reader
 * puts together from TIME and the slot is the clock's, through every kind of rollover: between two
 * events, after long idleness, while equal stamps are bumped, in the middle of a buffer's opening.
 * Built with a 64-bit clock and with one of 32 bits that is extended in software.
 */
#include "test/trace/look.h"

#include "trace/hook.h"
#include "trace/loss.h"
#include "test/tool/random.h"

#define WRAP (1ull << 32)

/* Stops, takes everything, and returns the times of all events that aren't CONTROL. */
static unsigned times_of_all(uint64_t *times, unsigned most, unsigned *time_slots)
{
    struct kymo_trace_buffer b;
    struct scan scan = {.last_time = 0};
    unsigned n = 0;

    *time_slots = 0;
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    while (command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b) == 0) {
        scan_begin(&scan, b.cpu, look_slots(0, b.index), b.slots, b.sequence, b.slots);
        while (scan_next(&scan)) {
            if (scan.seen.class != TRACE_CLASS_CONTROL) {
                assert_in_range(n, 0, most - 1);
                times[n++] = scan.seen.time;
            }
            *time_slots += is_control(&scan.seen, TRACE_CONTROL_TIME);
        }
        assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    return n;
}

static void begin_at(uint64_t time, uint32_t tick)
{
    fake_boot(1);
    fake.tick = tick;
    fake_pass(0, time - fake.clock[0]);
    start_tracing(3 * TRACE_BUFFER_SLOTS_MOST / TRACE_BUFFER_SLOTS, _NTO_TRACE_SETLINEARMODE);
}

static void equal_stamps_are_bumped(void **state)
{
    enum { EVENTS = TRACE_BUFFER_SLOTS * 3 / 2, LAST = TRACE_BUFFER_SLOTS - 3 };
    uint64_t times[EVENTS];
    unsigned slots;

    (void)state;
    begin_at(5000, 0);
    insert_events(EVENTS);
    assert_int_equal(times_of_all(times, EVENTS, &slots), EVENTS);
    assert_int_equal(slots, 2);
    assert_int_equal(times[0], 5002);
    assert_int_equal(times[LAST], 5002 + LAST);
    assert_int_equal(times[LAST + 1], 5002 + LAST + 3); /* BUFFER and TIME came between */
}

static void a_rollover_is_told(void **state)
{
    uint64_t times[2];
    unsigned slots;

    (void)state;
    begin_at(WRAP - 1000, 0);
    insert_events(1);
    fake_pass(0, 1010);
    insert_events(1);
    assert_int_equal(times_of_all(times, 2, &slots), 2);
    assert_int_equal(slots, 2);
    assert_int_equal(times[0], WRAP - 998);
    assert_in_range(times[1], WRAP + 10, WRAP + 11); /* after its TIME */
}

/* The low word comes out above, below and equal to the last one's. */
static void so_are_many_at_once(void **state)
{
    static const uint64_t idle[] = {WRAP,         WRAP + 1,     WRAP - 1,      WRAP - 2,
                                    5 * WRAP,     5 * WRAP + 7, 5 * WRAP - 7,  1000 * WRAP,
                                    2 * WRAP - 1, 3 * WRAP / 2, 3 * WRAP + 900};
    uint64_t times[3];
    unsigned slots;

    (void)state;
    for (unsigned i = 0; i < sizeof(idle) / sizeof(idle[0]); i++) {
        begin_at(0x700000000ull + 12345, 0);
        insert_events(1);
        fake_pass(0, idle[i]);
        insert_events(2);
        assert_int_equal(times_of_all(times, 3, &slots), 3);
        assert_int_equal(times[0], 0x700000000ull + 12347);
        assert_in_range(times[1], 0x700000000ull + 12345 + idle[i],
                        0x700000000ull + 12345 + idle[i] + 3);
        assert_int_equal(times[2], times[1] + 1);
    }
}

/* A clock that stands still just before the rollover: events are bumped over it, stay ahead, and
 * are caught up with. */
static void bumped_over_the_rollover(void **state)
{
    uint64_t times[60];
    unsigned slots;

    (void)state;
    begin_at(WRAP - 10, 0);
    insert_events(30);
    fake_pass(0, 5); /* still before it */
    insert_events(10);
    fake_pass(0, 6);
    insert_events(10); /* after it, still after the stamps */
    fake_pass(0, 100);
    insert_events(10);
    assert_int_equal(times_of_all(times, 60, &slots), 60);
    assert_int_equal(slots, 2);
    for (unsigned i = 1; i < 50; i++) {
        assert_in_range(times[i], times[i - 1] + 1, times[i - 1] + 2);
    }
    assert_int_equal(times[7], WRAP - 1);
    assert_int_equal(times[8], WRAP + 1); /* TIME has the stamp WRAP */
    assert_in_range(times[50], WRAP + 101, WRAP + 102);
}

/* BUFFER, TIME and DROPPED slots of one opening are in the same high word, wherever it falls. */
static void an_opening_does_not_straddle_a_rollover(void **state)
{
    uint64_t times[2];
    unsigned slots;

    (void)state;
    for (unsigned before = 0; before < 12; before++) {
        for (unsigned dropped = 0; dropped < 6; dropped++) {
            begin_at(WRAP - before, 0);
            for (unsigned class = 1; class <= dropped; class ++) {
                trace_loss_add(&trace_port_cpu_at(0)->loss, KYMO_DROP_TOOBIG, class, 1);
            }
            insert_events(2);
            assert_int_equal(times_of_all(times, 2, &slots), 2); /* scan_begin() checks it */
            assert_true(times[0] >= WRAP - before + 2 + dropped);
            assert_true(times[1] <= WRAP + 3 + dropped);
        }
    }
}

/* What a combine event gets when the rollover is before it: TIME, then all slots one stamp. */
static void a_combine_event_after_a_rollover(void **state)
{
    uint64_t times[2];
    unsigned slots;

    (void)state;
    begin_at(WRAP - 500, 0);
    insert_events(1);
    fake_pass(0, 600);
    trace_proc_create_name(1, 2, "behind the rollover");
    assert_int_equal(times_of_all(times, 2, &slots), 2);
    assert_int_equal(slots, 2);
    assert_in_range(times[1], WRAP + 100, WRAP + 101);
}

/* TIME and the event that needs it go into the same buffer, even if it is almost full; wherever the
 * mark is, and whatever comes then. */
static void a_rollover_at_the_end_of_a_buffer(void **state)
{
    static const unsigned marks[] = {16,
                                     TRACE_HIGH_WATER,
                                     TRACE_BUFFER_SLOTS - 4,
                                     TRACE_BUFFER_SLOTS - 3,
                                     TRACE_BUFFER_SLOTS - 2,
                                     TRACE_BUFFER_SLOTS - 1,
                                     TRACE_BUFFER_SLOTS};
    uint64_t times[1100];
    unsigned slots;

    (void)state;
    for (unsigned i = 0; i < 2 * 7 * 7 * 7; i++) {
        unsigned left = i % 7, more = i / 7 % 7, before = TRACE_BUFFER_SLOTS - 2 - left;

        begin_at(WRAP - 100000, i / 343 * 3); /* events of one time, or of later and later ones */
        assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, marks[i / 49 % 7]), 0);
        insert_events(before);
        fake_pass(0, 200000);
        insert_events(1);
        assert_int_equal(look_count(0, TRACE_READY), left < 2);
        insert_events(more);
        assert_int_equal(times_of_all(times, 1100, &slots), before + 1 + more);
        assert_in_range(times[before], WRAP + 100000, WRAP + 107000);
    }
}

/* The call that trace/clock.h wants at least twice a wrap. */
static void tick(void)
{
    uintptr_t irq = trace_port_irq_save();

    trace_clock_wrapped(trace_port_cpu_at(0));
    trace_port_irq_restore(irq);
}

/* The clock wraps, `events` events come, and only then the tick, which must not count
 * that again. */
static void wrap_then_tick(uint64_t before, uint64_t behind, unsigned events)
{
    uint64_t times[8], first, now;
    unsigned slots, n = events + 3;

    begin_at(3 * WRAP - before, 0);
    first = fake.clock[0];
    insert_events(1);
    fake.clock[0] += before + behind;
    now = fake.clock[0];
    insert_events(events);
    tick();
    insert_events(1);
    tick(); /* and one more in the same wrap */
    insert_events(1);
    assert_int_equal(times_of_all(times, 8, &slots), n);
    assert_in_range(times[0], first, first + 8);
    for (unsigned i = 1; i < n; i++) {
        assert_in_range(times[i], now, now + 8);
        assert_true(times[i] > times[i - 1]);
    }
}

static void a_late_tick(void **state)
{
    static const uint64_t spans[] = {1, 2, 3, 4, 10, 1000, WRAP / 4, WRAP / 2 - 10};

    (void)state;
    for (unsigned i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        for (unsigned j = 0; j < sizeof(spans) / sizeof(spans[0]); j++) {
            for (unsigned events = 0; events < 4; events++) {
                wrap_then_tick(spans[i], spans[j], events);
            }
        }
    }
}

/* Steps of the clock that end close to where something changes, or anywhere. */
static uint64_t any_step(void)
{
    static const uint64_t steps[] = {1, 1000, WRAP / 8, WRAP / 4, WRAP / 2 - 100, WRAP / 2};
    uint64_t to_wrap = WRAP - (uint32_t)fake.clock[0];

    if (random_below(4) == 0) {
        uint64_t to = to_wrap + random_below(40);

        return to > 20 ? to - 20 : 1;
    }
    return random_below(2) ? steps[random_below(6)] : 1 + random_below(0xf0000000);
}

/* The tick comes at least twice a wrap, at any time, and events come at any time between: seldom,
 * so that wraps and several ticks lie between two of them. The recorded time is the clock's. */
static void ticks_and_seldom_events(void **state)
{
    static uint64_t times[400], now[400];
    unsigned slots;

    (void)state;
    random_start();
    for (unsigned round = 0; round < 200; round++) {
        uint64_t next;

        begin_at(WRAP * random_below(3) + random_below(UINT32_MAX) + 1, 0);
        next = fake.clock[0] + 1 + random_below((uint32_t)(WRAP / 2) - 1);
        for (unsigned n = 0; n < 400;) {
            uint64_t step = any_step();

            while (fake.clock[0] + step >= next) {
                step -= next - fake.clock[0];
                fake.clock[0] = next;
                tick();
                next += 1 + random_below((uint32_t)(WRAP / 2) - 1);
            }
            fake.clock[0] += step;
            if (random_below(3) == 0) {
                now[n++] = fake.clock[0];
                insert_events(1);
            }
        }
        assert_int_equal(times_of_all(times, 400, &slots), 400);
        for (unsigned i = 0; i < 400; i++) {
            uint64_t last = i ? times[i - 1] : 0;

            assert_in_range(times[i], now[i], (now[i] > last ? now[i] : last) + 5);
        }
    }
}

/* Events, pauses of every length, ticks of every size: the recorded time is the clock's, or one
 * more than the last event's. */
static void time_is_right_at_random(void **state)
{
    static uint64_t times[3000], now[3000], after[3000];
    unsigned slots, n = 0;

    (void)state;
    random_start();
    for (unsigned round = 0; round < 60; round++) {
        begin_at(WRAP * random_below(3) + WRAP - random_below(100000) - 1, random_below(3));
        for (n = 0; n < 2000; n++) {
            if (random_below(20) == 0) {
                fake_pass(0, random_below(2) ? random_below(50000)
                                             : WRAP * random_below(4) + random_below(1000));
            } else if (random_below(500) == 0 && (uint32_t)fake.clock[0] < WRAP - 100) {
                /* to just before the next rollover */
                fake_pass(0, WRAP - (uint32_t)fake.clock[0] - random_below(20) - 1);
            }
            fake.tick = random_below(8) ? fake.tick : random_below(3);
            now[n] = fake.clock[0];
            insert_events(1);
            after[n] = fake.clock[0];
        }
        assert_int_equal(times_of_all(times, 3000, &slots), n);
        for (unsigned i = 0; i < n; i++) {
            uint64_t last = i ? times[i - 1] : 0;
            uint64_t most = (after[i] > last ? after[i] : last) + 5;

            assert_true(times[i] >= now[i]);
            assert_true(times[i] <= most);
        }
    }
}

/* CPUs have clocks of their own. */
static void cpus_do_not_share_time(void **state)
{
    struct tally tally = {.last = 0};

    (void)state;
    fake_boot(2);
    fake_pass(1, 9 * WRAP);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    insert_events(1);
    fake_on(1);
    insert_events(1);
    assert_int_equal(look_slots(1, 0)[1].d1, 9);
    fake_back((struct fake_where){0, 0});
    assert_int_equal(look_slots(0, 0)[1].d1, 0);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(take_all(&tally), 2);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stamps_are_bumped),
        cmocka_unit_test(a_rollover_is_told),
        cmocka_unit_test(so_are_many_at_once),
        cmocka_unit_test(bumped_over_the_rollover),
        cmocka_unit_test(an_opening_does_not_straddle_a_rollover),
        cmocka_unit_test(a_combine_event_after_a_rollover),
        cmocka_unit_test(a_rollover_at_the_end_of_a_buffer),
        cmocka_unit_test(a_late_tick),
        cmocka_unit_test(ticks_and_seldom_events),
        cmocka_unit_test(time_is_right_at_random),
        cmocka_unit_test(cpus_do_not_share_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

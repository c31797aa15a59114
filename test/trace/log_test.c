/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer: how a buffer opens, the mark and the kernel's exit, combine events at the end of a
 * buffer, what a stop and a flush leave, events inside events, events that are too big. Overruns:
 * overrun_test.c.
 */
#include "test/trace/look.h"

#include <string.h>

#include "trace/hook.h"
#include "trace/log.h"
#include "trace/loss.h"

enum {
    LONG = TRACE_BUFFER_SLOTS < 256 ? 13 : 33, /* slots of a long event */
    SOME_MARK = 16 + TRACE_BUFFER_SLOTS * 84 / 1024,
};

static void insert(unsigned n)
{
    static uint32_t number;

    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(trace_user_simple(7, number, ~number), 0);
        number++;
    }
}

/* An event of so many slots, of class USER. */
static void insert_long(unsigned slots)
{
    static uint32_t words[2 * TRACE_BUFFER_SLOTS];

    for (unsigned i = 0; i < 2 * slots; i++) {
        words[i] = slots << 16 | i;
    }
    trace_log_words(TRACE_CLASS_USER, 9, &(struct trace_words){words, 2 * slots, NULL, 0});
}

static void opens_with_buffer_and_time(void **state)
{
    const struct trace_slot *slot;

    (void)state;
    fake_boot(2);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    fake_pass(1, 0x12345678aull - fake.clock[1]);
    fake_on(1);
    assert_int_equal(look_active_slots(1), 0);
    insert(1);
    slot = look_slots(1, 0);
    assert_int_equal(look_active_slots(1), 3);
    assert_int_equal(look_active_slots(0), 0);
    assert_int_equal(look_state(1, 0), TRACE_ACTIVE);
    assert_int_equal(slot[0].header, 0x01000402);
    assert_int_equal(slot[0].d1, 1);
    assert_int_equal(slot[0].d2, 0);
    assert_int_equal(slot[1].header, 0x01000401);
    assert_int_equal(slot[1].d1, 1);
    assert_int_equal(slot[1].d2, slot[1].time);
    assert_in_range(slot[0].time, 0x2345678a, 0x23456790);
    assert_int_equal(slot[2].header, 0x01001807);
    assert_int_equal(slot[2].d2, ~slot[2].d1);
    fake_back((struct fake_where){0, 0});
    assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
    assert_int_equal(slot[0].d2, 3);
    assert_int_equal(look_state(1, 0), TRACE_READY);
    assert_int_equal(look_count(0, TRACE_FREE), 2); /* nothing happened there: nothing to flush */
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* The event that makes the buffer hold more than the mark asks for the exit; the exit switches. */
static void the_mark_switches_at_the_exit(void **state)
{
    static const unsigned marks[] = {16, 17, SOME_MARK, TRACE_HIGH_WATER, TRACE_BUFFER_SLOTS - 1};

    (void)state;
    for (unsigned m = 0; m < sizeof(marks) / sizeof(marks[0]); m++) {
        fake_boot(1);
        start_tracing(3, _NTO_TRACE_SETLINEARMODE);
        assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, marks[m]), 0);
        for (uint32_t sequence = 1; sequence <= 3; sequence++) {
            insert(marks[m] - 2);
            assert_false(fake_exit_wanted(0));
            assert_int_equal(look_active_slots(0), marks[m]);
            insert(1);
            assert_true(fake_exit_wanted(0));
            assert_int_equal(look_sequence(0, sequence - 1), sequence);
            if (sequence < 3) {
                fake_exit();
                assert_int_equal(fake.raised[0], sequence);
                assert_int_equal(fake.raised_value[0], (sequence - 1) << 13 | sequence);
                assert_int_equal(look_active_slots(0), 0);
            }
        }
        fake_exit(); /* no buffer is FREE: it stays, and takes what comes */
        assert_int_equal(fake.raised[0], 2);
        assert_int_equal(look_active_slots(0), marks[m] + 1);
        insert(TRACE_BUFFER_SLOTS - marks[m] - 1);
        assert_int_equal(look_active_slots(0), TRACE_BUFFER_SLOTS);
        assert_int_equal(loss_of(0).lost[TRACE_CLASS_USER], 0);
        assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    }
}

/* So does an event of several slots, from each distance to the mark: when it reaches the mark, the
 * exit isn't asked for, and the next slot asks for it. */
static void a_long_event_at_the_mark(void **state)
{
    static const unsigned marks[] = {LONG + 7, SOME_MARK, TRACE_HIGH_WATER,
                                     TRACE_BUFFER_SLOTS - LONG - 1};

    (void)state;
    for (unsigned m = 0; m < 4; m++) {
        for (unsigned slots = 1; slots <= LONG; slots += slots < 4 ? 1 : LONG - 4) {
            for (unsigned before = 0; before <= slots + 1; before++) {
                bool passes = before < slots;

                fake_boot(1);
                start_tracing(3, _NTO_TRACE_SETLINEARMODE);
                assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, marks[m]), 0);
                insert(marks[m] - 2 - before);
                insert_long(slots);
                assert_int_equal(fake_exit_wanted(0), passes);
                for (unsigned left = passes ? 0 : before - slots; left > 0; left--) {
                    insert(1);
                    assert_false(fake_exit_wanted(0));
                }
                insert(!passes);
                assert_true(fake_exit_wanted(0));
                assert_int_equal(look_active_slots(0),
                                 passes ? marks[m] - before + slots : marks[m] + 1);
                assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
            }
        }
    }
}

/* The interrupt's value has eleven bits of the sequence. */
static void sequences_in_interrupts(void **state)
{
    (void)state;
    fake_boot(1);
    start_tracing(3, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, 16), 0);
    for (uint32_t sequence = 1; sequence <= 2100; sequence++) {
        struct kymo_trace_buffer b;

        insert(15);
        fake_exit();
        assert_int_equal(command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b), 0);
        assert_int_equal(b.sequence, sequence);
        assert_int_equal(fake.raised_value[0], b.index << 13 | (sequence & 0x7ff));
        assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

static void without_a_mark_a_buffer_is_used_up(void **state)
{
    (void)state;
    fake_boot(1);
    start_tracing(3, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command1(KYMO_TRACE_SETHIGHWATER, TRACE_BUFFER_SLOTS), 0);
    insert(TRACE_BUFFER_SLOTS - 2);
    assert_false(fake_exit_wanted(0));
    assert_int_equal(look_active_slots(0), TRACE_BUFFER_SLOTS);
    insert(1);
    assert_true(fake_exit_wanted(0));
    fake_exit();
    assert_int_equal(fake.raised[0], 1);
    assert_int_equal(fake.raised_value[0], 0 << 13 | 1);
    assert_int_equal(look_active_slots(0), 3);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* An interrupt that never lets the kernel exit: the slots above the mark and all FREE buffers
 * take its events; the one interrupt then tells of the last. */
static void nothing_is_lost_while_a_buffer_is_free(void **state)
{
    struct tally tally = {.last = 0};

    (void)state;
    fake_boot(1);
    start_tracing(5, _NTO_TRACE_SETLINEARMODE);
    insert(5 * (TRACE_BUFFER_SLOTS - 2));
    assert_int_equal(fake.raised[0], 0);
    assert_int_equal(look_count(0, TRACE_READY), 4);
    fake_exit();
    assert_int_equal(fake.raised[0], 1);
    assert_int_equal(fake.raised_value[0], 3 << 13 | 4);
    assert_int_equal(loss_of(0).lost[TRACE_CLASS_USER], 0);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(take_all(&tally), 5);
    assert_int_equal(tally.events[TRACE_CLASS_USER], 5 * (TRACE_BUFFER_SLOTS - 2));
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* At every distance from the end: an event is whole, here or in the next buffer. */
static void no_event_straddles(void **state)
{
    (void)state;
    for (unsigned left = 0; left <= 33; left++) {
        for (unsigned slots = 1; slots <= 33; slots++) {
            struct tally tally = {.last = 0};
            bool fits = slots <= left;

            fake_boot(1);
            start_tracing(2, _NTO_TRACE_SETLINEARMODE);
            insert(TRACE_BUFFER_SLOTS - 2 - left);
            insert_long(slots);
            assert_int_equal(look_active_slots(0),
                             fits ? TRACE_BUFFER_SLOTS - left + slots : 2 + slots);
            assert_int_equal(look_slots(0, 0)[0].d2, fits ? 0 : TRACE_BUFFER_SLOTS - left);
            assert_int_equal(command(_NTO_TRACE_STOP), 0);
            assert_int_equal(take_all(&tally), fits ? 1 : 2);
            assert_int_equal(tally.events[TRACE_CLASS_USER], TRACE_BUFFER_SLOTS - 2 - left + 1);
            assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
        }
    }
}

/* What did not fit is lost, what is small enough still goes into the ACTIVE buffer. */
static void smaller_ones_still_fit(void **state)
{
    struct tally tally = {.last = 0};

    (void)state;
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    assert_int_equal(command(_NTO_TRACE_SKIPBUFFER), 0);
    insert(TRACE_BUFFER_SLOTS - 2);
    insert(TRACE_BUFFER_SLOTS - 2 - 4);
    insert_long(5);
    insert_long(3);
    insert_long(2);
    insert(1);
    insert(1);
    assert_int_equal(look_count(0, TRACE_READY), 2);
    assert_int_equal(loss_of(0).pending[KYMO_DROP_NOBUFFER][TRACE_CLASS_USER], 3);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(take_all(&tally), 2);
    assert_int_equal(tally.events[TRACE_CLASS_USER], 2 * (TRACE_BUFFER_SLOTS - 2) - 4 + 2);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

static void too_big_is_a_counted_drop(void **state)
{
    struct tally tally = {.last = 0};

    (void)state;
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    insert_long(TRACE_EVENT_SLOTS_MOST + 1);
    insert_long(TRACE_BUFFER_SLOTS);
    assert_int_equal(loss_of(0).pending[KYMO_DROP_TOOBIG][TRACE_CLASS_USER], 2);
    assert_int_equal(loss_of(0).made, 2);
    insert_long(TRACE_EVENT_SLOTS_MOST); /* fits after the DROPPED that tells of the others */
    assert_int_equal(loss_of(0).pending[KYMO_DROP_TOOBIG][TRACE_CLASS_USER], 0);
    assert_int_equal(loss_of(0).lost_reason[KYMO_DROP_TOOBIG], 2);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(take_all(&tally), 1);
    assert_int_equal(tally.events[TRACE_CLASS_USER], 1);
    assert_int_equal(tally.dropped[KYMO_DROP_TOOBIG][TRACE_CLASS_USER], 2);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* Every class of every reason pending at once: a buffer has room for its share of that and the
 * largest event. STOP puts the rest into as many FREE buffers as it takes; what finds none stays
 * pending. */
static void all_pending_and_the_largest(unsigned buffers)
{
    enum { PENDING = (KYMO_TRACE_REASONS - 1) * (TRACE_CLASS_MAX - 1) };
    unsigned needed = (PENDING + TRACE_DROPPED_MOST - 1) / TRACE_DROPPED_MOST;
    struct tally tally = {.last = 0};
    struct kymo_trace_loss loss;
    unsigned told = 0;

    fake_boot(1);
    start_tracing(buffers, _NTO_TRACE_SETLINEARMODE);
    for (unsigned reason = 1; reason < KYMO_TRACE_REASONS; reason++) {
        for (unsigned class = 1; class < TRACE_CLASS_MAX; class ++) {
            trace_loss_add(&trace_port_cpu_at(0)->loss, reason, class, reason * class);
        }
    }
    insert_long(TRACE_EVENT_SLOTS_MOST);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    loss = loss_of(0);
    assert_int_equal(take_all(&tally), needed < buffers ? needed : buffers);
    assert_int_equal(tally.events[TRACE_CLASS_USER], 1);
    for (unsigned reason = 1; reason < KYMO_TRACE_REASONS; reason++) {
        for (unsigned class = 1; class < TRACE_CLASS_MAX; class ++) {
            assert_int_equal(tally.dropped[reason][class] + loss.pending[reason][class],
                             reason * class);
            told += tally.dropped[reason][class] != 0;
        }
    }
    assert_int_equal(told, needed <= buffers ? PENDING : buffers * TRACE_DROPPED_MOST);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

static void all_pending_and_the_largest_fit(void **state)
{
    (void)state;
    for (unsigned buffers = 2; buffers <= 20; buffers++) {
        all_pending_and_the_largest(buffers);
    }
}

/* ---- events within events ---------------------------------------------------------- */

static unsigned nested;

static void nest(const char *where)
{
    if (strcmp(where, "reserve") == 0 || strncmp(where, "switch", 6) == 0) {
        fake.yield = NULL;
        insert(2);
        insert_long(3);
        trace_comm_snd_message(1, 2);
        nested++;
        fake.yield = nest;
    }
}

static void an_event_within_an_event_is_counted(void **state)
{
    struct tally tally = {.last = 0};

    (void)state;
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    nested = 0;
    fake.yield = nest;
    insert(10);
    insert_long(2);
    fake.yield = NULL;
    assert_in_range(nested, 2, 12); /* the slow path: at least the first event and the long one */
    assert_int_equal(loss_of(0).lost_reason[KYMO_DROP_RECURSIVE], 4 * nested);
    assert_int_equal(loss_of(0).lost[TRACE_CLASS_USER], 3 * nested);
    assert_int_equal(loss_of(0).lost[TRACE_CLASS_COMM], nested);
    assert_int_equal(loss_of(0).made, 11 + 4 * nested);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(take_all(&tally), 2); /* STOP put what was pending into one more */
    assert_int_equal(tally.events[TRACE_CLASS_USER], 11);
    assert_int_equal(tally.dropped[KYMO_DROP_RECURSIVE][TRACE_CLASS_USER], 3 * nested);
    assert_int_equal(tally.dropped[KYMO_DROP_RECURSIVE][TRACE_CLASS_COMM], nested);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* ---- stop and flush ---------------------------------------------------------------- */

static void stopped_nothing_is_made(void **state)
{
    struct tally tally = {.last = 0};

    (void)state;
    fake_boot(2);
    start_tracing(4, _NTO_TRACE_SETLINEARMODE);
    insert(5);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    insert(5);
    insert_long(4);
    trace_comm_snd_message(1, 2);
    fake_on(1);
    insert(1);
    fake_back((struct fake_where){0, 0});
    assert_int_equal(loss_of(0).made, 5);
    assert_int_equal(loss_of(1).made, 0);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert(3);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(take_all(&tally), 2); /* what was recorded before is still there */
    assert_int_equal(tally.events[TRACE_CLASS_USER], 8);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

static void a_flush_closes_every_cpu(void **state)
{
    struct tally tally = {.last = 0};

    (void)state;
    fake_boot(4);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        fake_on(cpu);
        insert(cpu); /* none on CPU 0 */
    }
    fake_back((struct fake_where){0, 0});
    assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
    assert_int_equal(fake.raised[0], 0);
    for (unsigned cpu = 1; cpu < 4; cpu++) {
        assert_int_equal(look_count(cpu, TRACE_READY), 1);
        assert_int_equal(fake.raised[cpu], 1);
        assert_int_equal(fake.raised_value[cpu], (2 * cpu) << 13 | 1);
    }
    assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0); /* again: nothing more */
    assert_int_equal(fake.raised[1], 1);
    assert_int_equal(take_all(&tally), 3);
    assert_int_equal(tally.events[TRACE_CLASS_USER], 6);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* Only the own CPU's exit closes a buffer above its mark; a buffer given back lets it. */
static void a_buffer_given_back_lets_the_mark_switch(void **state)
{
    struct kymo_trace_buffer b;

    (void)state;
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    insert(10);
    assert_int_equal(command(_NTO_TRACE_FLUSHBUFFER), 0);
    assert_int_equal(command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b), 0);
    insert(TRACE_HIGH_WATER);
    fake_exit();
    assert_int_equal(look_active_slots(0), TRACE_HIGH_WATER + 2);
    assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, b.index), 0);
    assert_true(fake_exit_wanted(0));
    fake_exit();
    assert_int_equal(look_active_slots(0), 0);
    assert_int_equal(fake.raised[0], 2);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_in_interrupts),
        cmocka_unit_test(opens_with_buffer_and_time),
        cmocka_unit_test(the_mark_switches_at_the_exit),
        cmocka_unit_test(a_long_event_at_the_mark),
        cmocka_unit_test(without_a_mark_a_buffer_is_used_up),
        cmocka_unit_test(nothing_is_lost_while_a_buffer_is_free),
        cmocka_unit_test(no_event_straddles),
        cmocka_unit_test(smaller_ones_still_fit),
        cmocka_unit_test(too_big_is_a_counted_drop),
        cmocka_unit_test(all_pending_and_the_largest_fit),
        cmocka_unit_test(an_event_within_an_event_is_counted),
        cmocka_unit_test(stopped_nothing_is_made),
        cmocka_unit_test(a_flush_closes_every_cpu),
        cmocka_unit_test(a_buffer_given_back_lets_the_mark_switch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Seals of buffers in retained memory (trace/retain.c): when they are made, and of what. */
#include "test/trace/retained.h"

#include <string.h>

#include "trace/retain.h"
#include "trace/ring.h"
#include "trace/trace.h"

/* The next buffer is at most 3/4 full when the last one is sealed, if the kernel's exit comes. */
static void sealed_in_time(void **state)
{
    (void)state;
    retained_boot(4);
    for (unsigned turn = 1; turn <= 20; turn++) {
        uint32_t sequence = ring_of(0)->sequence;

        while (ring_of(0)->sequence == sequence ||
               look_active_slots(0) < TRACE_BUFFER_SLOTS * 3 / 4) {
            retained_make(0);
            fake_exit();
        }
        assert_int_equal(retained_sealed(), turn < 4 ? turn - 1 : 3);
    }
    retained_end();
}

static unsigned windows, window_closes_at; /* the one that says that something is more urgent */

static bool exit_window(void)
{
    return ++windows != window_closes_at;
}

/* Makes a READY buffer, and two long events. Returns how many windows the kernel's exit passes as
 * it seals what these make due. */
static unsigned seal_after_long_events(bool (*window)(void))
{
    static uint32_t words[KYMO_TRACE_USER_COMBINE_MAX / 4];

    trace_user_simple(EVENT, 1, 0);
    for (uint32_t sequence = ring_of(0)->sequence; ring_of(0)->sequence == sequence;) {
        trace_user_simple(EVENT, 1, 0);
    }
    fake.exit_window = NULL;
    fake_exit();
    fake.exit_window = window;
    windows = 0;
    fake.cleaned_most = 0;
    trace_user_combine(EVENT, words, sizeof(words) / 4);
    trace_user_combine(EVENT, words, sizeof(words) / 4);
    fake_exit();
    assert_int_equal(fake.cleaned_most, 256);
    return windows;
}

/* No step takes long, however much is due: a thread that should run waits for one of them. What it
 * prevents is done at the next exit. */
static void seals_in_short_steps(void **state)
{
    (void)state;
    if (TRACE_BUFFER_SLOTS < 1024) {
        skip();
    }
    retained_boot(4);
    window_closes_at = 0;
    assert_int_equal(seal_after_long_events(exit_window), 7); /* 64 slots: eight steps */
    window_closes_at = 2;
    assert_int_equal(seal_after_long_events(exit_window), 2);
    windows = window_closes_at = 0;
    while (!fake_exit_wanted(0)) {
        trace_user_simple(EVENT, 1, 0);
    }
    fake_exit();
    assert_in_range(windows, 7, 8); /* six steps that are owed, two that are due by these events */
    retained_end();
}

static bool buffers_go(void)
{
    struct fake_where back = fake_on(1);

    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    fake_back(back);
    return true;
}

/* Another CPU has the lock between two steps, and ends the recording. */
static void ended_between_steps(void **state)
{
    (void)state;
    if (TRACE_BUFFER_SLOTS < 1024) {
        skip();
    }
    retained_boot(4);
    seal_after_long_events(buffers_go);
    assert_int_equal(fake.ring.per_cpu, 0);
    fake_exit();
    fake.exit_window = NULL;
    retained_end();
}

/* The kernel's exit comes seldom, so that the writer overtakes seals under way, and the recording
 * is stopped at times, so that buffers close when they are not full: a seal is put only on a buffer
 * that is READY with the sequence that it vouches for. */
static void overtaken_seals(void **state)
{
    const struct kymo_retain_mark *marks;
    struct kymo_retain_mark before[5];
    uint64_t put = 0, closed = 0;

    (void)state;
    for (unsigned per_cpu = 2; per_cpu <= 4; per_cpu++) {
        retained_boot(per_cpu);
        marks = (const void *)(fake_window + fake.ring.marks);
        for (unsigned n = 0; n < 40000; n++) {
            assert_int_equal(trace_user_simple(EVENT, n, 0), 0);
            if (random_below(4000) == 0) {
                assert_int_equal(command(_NTO_TRACE_STOP), 0);
                assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
            }
            if (random_below(220)) {
                continue;
            }
            memcpy(before, marks, per_cpu * sizeof(*marks));
            trace_port_cpu()->exit_work = 1;
            fake_exit();
            for (unsigned i = 0; i < per_cpu; i++) {
                if (memcmp(&before[i], &marks[i], sizeof(*marks)) != 0) {
                    put++;
                    assert_int_equal(ring_of(0)->buffers[i].word,
                                     TRACE_WORD(marks[i].sequence, TRACE_READY));
                }
            }
        }
        closed += ring_of(0)->closed_sequence;
        retained_end();
    }
    assert_true(put > 0 && put < closed); /* of others the seal was given up */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sealed_in_time),
        cmocka_unit_test(seals_in_short_steps),
        cmocka_unit_test(ended_between_steps),
        cmocka_unit_test(overtaken_seals),
    };

    random_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

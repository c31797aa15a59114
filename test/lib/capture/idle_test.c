/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which CPUs are asked for a buffer, and when (lib/capture/idle.c): random recordings against what
 * is promised. A CPU is asked only if it has given nothing for the time that is set, and no more
 * often than once in that time; while others give, no CPU is silent for longer than that time and
 * what lies between two buffers. SEED=s replays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/capture/idle.h"
#include "test/tool/random.h"

#define CPUS_MOST 8
#define HZ 1000000u
#define ROUNDS 300
#define STEPS 2000

static struct {
    unsigned cpus;
    uint64_t now, last[CPUS_MOST]; /* when a CPU has given, at the latest */
    uint64_t asked_at[CPUS_MOST];  /* when it was asked */
    uint64_t asked;                /* bit per CPU that has not answered */
    unsigned asks;
} world;

/* A buffer whose last slot has this time; it may begin before a rollover, and end with TIME. */
static bool taken(struct capture_idle *idle, unsigned cpu, unsigned count, uint64_t end)
{
    static struct trace_slot slots[TRACE_BUFFER_SLOTS];
    struct kymo_trace_buffer buffer = {.cpu = cpu, .slots = count};
    uint64_t begins = count == 2 || end < 1000 ? end : end - random_below(1000);
    bool is_time = count == 2 || random_below(2);

    slots[1] = (struct trace_slot){TRACE_HEADER(cpu, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_TIME),
                                   (uint32_t)begins, (uint32_t)(begins >> 32), (uint32_t)begins};
    slots[count - 1].header =
        TRACE_HEADER(cpu, 0, is_time ? TRACE_CLASS_CONTROL : TRACE_CLASS_USER, TRACE_CONTROL_TIME);
    slots[count - 1].time = (uint32_t)end;
    slots[count - 1].d1 = is_time ? (uint32_t)(end >> 32) : 77;
    return capture_idle_taken(idle, &buffer, slots);
}

/* Of some CPUs, some of which have been asked. */
static void give(struct capture_idle *idle, unsigned cpu)
{
    unsigned slots = 2 + random_below(random_below(2) ? 2 : 700);
    bool extra = taken(idle, cpu, slots, world.now);

    assert_int_equal(extra, slots == 2 || (world.asked >> cpu & 1));
    world.asked &= ~(UINT64_C(1) << cpu);
    world.last[cpu] = world.now;
}

static void ask(struct capture_idle *idle, uint64_t period)
{
    uint64_t due = capture_idle_due(idle, world.cpus);

    assert_int_equal(due >> world.cpus, 0);
    for (unsigned cpu = 0; cpu < world.cpus; cpu++) {
        if (due >> cpu & 1) {
            assert_true(world.now - world.last[cpu] >= period);
            assert_true(world.asked_at[cpu] == 0 || world.now - world.asked_at[cpu] >= period);
            world.asked_at[cpu] = world.now;
        }
    }
    world.asked |= due;
    world.asks += due != 0;
}

/* Others give now and then, at most `pause` apart; those that are asked answer, or not at once. */
static void a_recording(uint32_t ms, uint64_t pause)
{
    struct capture_idle idle;
    uint64_t period = (uint64_t)HZ / 1000 * ms;

    world.cpus = 2 + random_below(CPUS_MOST - 1);
    world.now = random_below(2) ? 1 + random_below(1000) : UINT32_MAX - random_below(100000);
    uint64_t began = world.now;
    world.asked = world.asks = 0;
    for (unsigned cpu = 0; cpu < world.cpus; cpu++) {
        world.last[cpu] = world.now;
        world.asked_at[cpu] = 0;
    }
    capture_idle_begin(&idle, ms, world.cpus, HZ);
    for (unsigned i = 0; i < STEPS; i++) {
        world.now += 1 + random_below((uint32_t)pause);
        for (unsigned cpu = 0; cpu < world.cpus; cpu++) {
            if (world.asked >> cpu & 1) {
                give(&idle, cpu);
            }
        }
        give(&idle, random_below(2)); /* the others are idle */
        ask(&idle, period);
        for (unsigned cpu = 0; cpu < world.cpus; cpu++) {
            assert_true(world.now - world.last[cpu] <= period + 3 * pause);
        }
    }
    assert_true(world.cpus == 2 || world.now - began < 4 * period || world.asks > 0);
}

static void test_recordings(void **state)
{
    (void)state;
    random_start();
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t ms = 1 + random_below(200);

        a_recording(ms, 1 + random_below(ms * (HZ / 1000) / 4));
    }
}

/* Asked again and again without an answer: no more often than the time that is set. */
static void test_no_answer(void **state)
{
    struct capture_idle idle;
    unsigned asks = 0;

    (void)state;
    capture_idle_begin(&idle, 100, 4, HZ);
    for (uint64_t now = 1; now < 10 * HZ; now += 5000) {
        taken(&idle, 0, 700, now);
        uint64_t due = capture_idle_due(&idle, 4);

        assert_true(due == 0 || due == 0xe);
        asks += due != 0;
    }
    assert_in_range(asks, 90, 100);
}

static void test_never(void **state)
{
    struct capture_idle idle;

    (void)state;
    for (unsigned i = 0; i < 3; i++) { /* switched off, one CPU, a struct of zeros */
        capture_idle_begin(&idle, i == 0 ? 0 : 100, i == 1 ? 1 : 4, HZ);
        if (i == 2) {
            idle = (struct capture_idle){.cycles = 0};
        }
        for (uint64_t now = 1; now < 10 * HZ; now += 5000) {
            taken(&idle, 0, 700, now);
            assert_int_equal(capture_idle_due(&idle, i == 1 ? 1 : 4), 0);
        }
    }
}

/* 64 CPUs, clocks of some GHz, the longest time there is. */
static void test_limits(void **state)
{
    struct capture_idle idle;

    (void)state;
    capture_idle_begin(&idle, 1000000, 64, UINT64_C(5000000000));
    assert_int_equal(idle.cycles, UINT64_C(5000000000000));
    capture_idle_begin(&idle, 7, 64, 1234567);
    assert_int_equal(idle.cycles, 1234567 * 7 / 1000);
    taken(&idle, 63, 700, 5000);
    assert_int_equal(capture_idle_due(&idle, 64), 0); /* the others' time counts from here on */
    taken(&idle, 63, 700, 5000 + idle.cycles);
    assert_int_equal(capture_idle_due(&idle, 64), UINT64_MAX >> 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_recordings),
                                       cmocka_unit_test(test_no_answer),
                                       cmocka_unit_test(test_never), cmocka_unit_test(test_limits)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's counters of the CPU's events (kernel/dtrace/count) over counters that are none: what a thread
 * has counted through switches and overflows, how a probe's overflows become fires and missed ones,
 * and machines whose counters are absent or read 0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/errno.h"
#include "abi/sys/dtrace.h"
#include "kernel/arch/count.h"
#include "kernel/arch/entry.h"
#include "kernel/dtrace/count/count.h"
#include "kernel/dtrace/count/own.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/dtrace/sample.h"
#include "test/tool/random.h"
#include "test/kernel/dtrace/count/count_around.h"
#include "trace/dtrace/probe.h"
#include "trace/filter.h"

/* ---- counters that are none -------------------------------------------------------- */

enum { COUNTERS = 4, EVENTS = 3 };

static struct {
    unsigned counters;
    uint32_t events; /* mask of those that the CPU says it has */
    uint32_t dead;   /* mask of those that read 0 */
    bool interrupts;
    struct {
        uint64_t value;
        unsigned event, modes;
        bool over;
    } at[CONFIG_CPUS][32];
    uint32_t open[CONFIG_CPUS];
} hw;

static unsigned here(void)
{
    return arch_cpu()->id;
}

const char *arch_count_name(unsigned event)
{
    static const char *const names[EVENTS] = {"cycles", "instructions", "misses"};

    return event < EVENTS ? names[event] : NULL;
}

bool arch_count_has(unsigned event)
{
    return hw.events >> event & 1;
}

unsigned arch_count_counters(void)
{
    return hw.counters;
}

bool arch_count_interrupts(void)
{
    return hw.interrupts;
}

void arch_count_set(unsigned n, unsigned event, unsigned modes)
{
    assert_true(n == ARCH_COUNT_CYCLE || n < hw.counters);
    hw.at[here()][n].value = 0;
    hw.at[here()][n].event = event;
    hw.at[here()][n].modes = modes;
    hw.at[here()][n].over = false;
}

void arch_count_write(unsigned n, uint32_t value)
{
    hw.at[here()][n].value = value;
    hw.at[here()][n].over = false;
}

/* This CPU executes: all that is on counts so much. */
static void count_on(uint64_t events)
{
    for (unsigned n = 0; n < 32; n++) {
        if (hw.at[here()][n].modes && !(hw.dead >> hw.at[here()][n].event & 1)) {
            uint64_t value = hw.at[here()][n].value + events;
            hw.at[here()][n].over |= n != ARCH_COUNT_CYCLE && value >> 32 != 0;
            hw.at[here()][n].value = n == ARCH_COUNT_CYCLE ? value : (uint32_t)value;
        }
    }
}

uint64_t arch_count_read(unsigned n, bool *over)
{
    count_on(3); /* it takes some */
    *over = hw.at[here()][n].over;
    hw.at[here()][n].over = false;
    return hw.at[here()][n].value;
}

void arch_count_open(uint32_t counters)
{
    hw.open[here()] = counters;
}

/* ---- probes fire ------------------------------------------------------------------- */

static unsigned fires;
static uint64_t last_args[5];
struct dtrace_probe *dtrace_probe_chunks[DTRACE_PROBE_CHUNKS];
uint32_t dtrace_probe_count;

void dtrace_probe_fire(const struct dtrace_probe *probe, const uint64_t args[5])
{
    (void)probe;
    fires++;
    memcpy(last_args, args, sizeof(last_args));
    fake_cycles += 10; /* not half of the time */
}

static int reset(void **state)
{
    (void)state;
    memset(&hw, 0, sizeof(hw));
    hw.counters = COUNTERS;
    hw.events = (1u << EVENTS) - 1;
    hw.interrupts = true;
    around_reset();
    return 0;
}

/* ---- the variables ----------------------------------------------------------------- */

/* Two threads on each CPU, switched at random moments: each has what was counted while it ran, to
 * the event, through overflows of 32 bits. Each read counts 3 itself. */
static void test_threads(void **state)
{
    uint64_t want[CONFIG_CPUS][2] = {{0}}, reads[CONFIG_CPUS] = {0};

    (void)state;
    assert_int_equal(dtrace_port_counters(DTRACE_PORT_INSTRUCTIONS, true), 0);
    assert_int_equal(site, 1);
    assert_true(settled && counts_kept);
    for (unsigned turn = 0; turn < 4000; turn++) {
        unsigned cpu = random_below(CONFIG_CPUS);
        on(cpu);
        unsigned which = (unsigned)(fake_cpu->current - threads[cpu]);
        uint64_t events = random_below(8) ? random_below(1000) : 0xf0000000u;
        count_on(events);
        want[cpu][which] += events + 3;
        reads[cpu]++;
        assert_int_equal(dtrace_port_counter(DTRACE_PORT_INSTRUCTIONS), want[cpu][which]);
        if (random_below(2)) {
            want[cpu][which] += 3; /* read at the switch */
            switch_to(&threads[cpu][!which]);
        }
    }
    on(0);
    dtrace_port_counters(DTRACE_PORT_INSTRUCTIONS, false);
    assert_int_equal(site, 0);
    assert_false(counts_kept);
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        assert_int_equal(hw.at[n][0].modes, 0);
        assert_true(reads[n] > 0);
    }
}

/* A thread that is never switched has its overflows counted once a second. */
static void test_fold(void **state)
{
    (void)state;
    dtrace_port_counters(DTRACE_PORT_INSTRUCTIONS, true);
    on(2);
    uint64_t want = 0;
    for (unsigned second = 0; second < 5; second++) {
        count_on(0xc0000000u);
        want += 0xc0000000u + 3;
        on(0);
        time_passes();
        on(2);
    }
    assert_int_equal(dtrace_port_counter(DTRACE_PORT_INSTRUCTIONS), want + 3);
    on(0);
    dtrace_port_counters(DTRACE_PORT_INSTRUCTIONS, false);
}

/* Two users of each variable: the counters are on until the last ends. */
static void test_users(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 2; n++) {
        assert_int_equal(dtrace_port_counters(DTRACE_PORT_CYCLES, true), 0);
        assert_int_equal(dtrace_port_counters(DTRACE_PORT_INSTRUCTIONS, true), 0);
    }
    assert_int_equal(site, 1);
    dtrace_port_counters(DTRACE_PORT_CYCLES, false);
    dtrace_port_counters(DTRACE_PORT_CYCLES, false);
    assert_int_equal(hw.at[3][ARCH_COUNT_CYCLE].modes, 0);
    assert_int_equal(hw.at[3][0].modes, ARCH_COUNT_USER | ARCH_COUNT_KERNEL);
    assert_int_equal(site, 1);
    dtrace_port_counters(DTRACE_PORT_INSTRUCTIONS, false);
    assert_int_equal(site, 1);
    dtrace_port_counters(DTRACE_PORT_INSTRUCTIONS, false);
    assert_int_equal(site, 0);
    assert_int_equal(hw.at[3][0].modes, 0);
    assert_int_equal(count_take(), 0); /* its counter was given back */
    for (unsigned n = 1; n < COUNTERS; n++) {
        assert_int_equal(count_take(), n);
    }
    assert_int_equal(count_take(), COUNTER_NONE);
    assert_int_equal(dtrace_port_counters(DTRACE_PORT_INSTRUCTIONS, true), -EBUSY);
    assert_int_equal(dtrace_port_counters(DTRACE_PORT_CYCLES, true), 0);
    dtrace_port_counters(DTRACE_PORT_CYCLES, false);
    assert_int_equal(site, 0);
    for (unsigned n = 0; n < COUNTERS; n++) {
        count_give(n);
    }
}

/* ---- probes ------------------------------------------------------------------------ */

static void test_periods(void **state)
{
    uint32_t past;

    (void)state;
    assert_int_equal(count_periods(5000, false, (uint32_t)-1, &past), 0);
    assert_int_equal(count_periods(5000, true, 0, &past), 1);
    assert_int_equal(past, 0);
    assert_int_equal(count_periods(5000, true, 4999, &past), 1);
    assert_int_equal(past, 4999);
    assert_int_equal(count_periods(5000, true, 15001, &past), 4);
    assert_int_equal(past, 1);
    assert_int_equal(count_periods(UINT32_MAX, true, UINT32_MAX - 1, &past), 1);
}

/* Whatever comes between overflow, sample and firing: fires and missed ones stand for all. */
static void test_overflows(void **state)
{
    static struct dtrace_probe chunk[1];
    struct counted probe = {.probe = 1, .count = 5000, .event = 1, .modes = ARCH_COUNT_USER};
    uint64_t events = 0, missed = 0;

    (void)state;
    dtrace_probe_chunks[0] = chunk;
    dtrace_probe_count = 1;
    fires = 0;
    probe.counter = 2;
    count_run(&probe, 1, true);
    on(1);
    assert_int_equal(hw.open[1], 4);
    assert_int_equal(hw.open[0], 0);
    for (unsigned turn = 0; turn < 3000; turn++) {
        uint32_t some = random_below(turn % 16 ? 4000 : 40000);
        events += some;
        count_on(some);
        fake_cycles += 1000;
        if (!hw.at[1][2].over || !(hw.open[1] >> 2 & 1)) {
            time_passes();
            continue;
        }
        hw.open[1] = 0; /* as the port's interrupt */
        kernel_counted(0x1234, 0, NULL, 0);
        unsigned before = fires;
        dtrace_count_now(fake_cpu);
        events += 3; /* the read */
        assert_int_equal(fires, before + 1);
        assert_int_equal(last_args[0], 0);
        assert_int_equal(last_args[1], 0x1234);
        assert_true(last_args[2] < 5000);
        missed += last_args[3];
        assert_int_equal(fires + missed, events / 5000);
    }
    assert_true(fires > 500 && missed > 50);
    count_run(&probe, 1, false);
    assert_int_equal(hw.at[1][2].modes, 0);
    assert_int_equal(hw.open[1], 0);
}

/* ---- machines without -------------------------------------------------------------- */

static void test_facts(void **state)
{
    static const uint32_t all = KYMO_D_FEATURE_COUNTS_CYCLES | KYMO_D_FEATURE_COUNTS_INSTRUCTIONS |
                                KYMO_D_FEATURE_COUNTS_PROBES;

    (void)state;
    assert_int_equal(dtrace_count_features(), all);
    assert_true(count_event_counts(2));
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        for (unsigned i = 0; i < 32; i++) {
            assert_int_equal(hw.at[n][i].modes, 0); /* as it was */
        }
    }
}

static void test_dead(void **state)
{
    (void)state;
    assert_int_equal(dtrace_count_features(), KYMO_D_FEATURE_COUNTS_INSTRUCTIONS);
    assert_int_equal(dtrace_port_counters(DTRACE_PORT_CYCLES, true), -ENOTSUP);
    assert_false(count_event_counts(ARCH_COUNT_CYCLES));
    assert_false(count_event_counts(2));
    assert_int_equal(site, 0);
}

static void test_none(void **state)
{
    (void)state;
    assert_int_equal(dtrace_count_features(), 0);
    assert_int_equal(dtrace_port_counters(DTRACE_PORT_CYCLES, true), -ENOTSUP);
    assert_int_equal(dtrace_port_counters(DTRACE_PORT_INSTRUCTIONS, true), -ENOTSUP);
    assert_int_equal(count_take(), COUNTER_NONE);
}

/* The CPU says that it has a counter of cycles, and it reads 0; no overflow interrupts. */
static int reset_dead(void **state)
{
    reset(state);
    hw.dead = 1u << ARCH_COUNT_CYCLES;
    hw.events = 1u << ARCH_COUNT_CYCLES | 1u << ARCH_COUNT_INSTRUCTIONS;
    hw.interrupts = false;
    around_reset();
    return 0;
}

static int reset_none(void **state)
{
    reset(state);
    hw.counters = 0;
    hw.events = 0;
    hw.interrupts = false;
    around_reset();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_facts, reset),
        cmocka_unit_test_setup(test_threads, reset),
        cmocka_unit_test_setup(test_fold, reset),
        cmocka_unit_test_setup(test_users, reset),
        cmocka_unit_test_setup(test_periods, reset),
        cmocka_unit_test_setup(test_overflows, reset),
        cmocka_unit_test_setup(test_dead, reset_dead),
        cmocka_unit_test_setup(test_none, reset_none),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

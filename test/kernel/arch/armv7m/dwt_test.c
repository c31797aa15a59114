/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's variable `cycles` on a Cortex-M4: kernel/dtrace/count over kernel/arch/armv7m/count, whose
 * registers are none. What a thread has counted through the 32 bits of CYCCNT, and CPUs that have
 * no such counter, or one that doesn't move.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "abi/errno.h"
#include "abi/sys/dtrace.h"
#include "kernel/arch/count.h"
#include "kernel/dtrace/count/own.h"
#include "test/tool/random.h"
#include "test/kernel/dtrace/count/count_around.h"
#include "test/kernel/arch/armv7m/fake_dwt.h"
#include "trace/dtrace/port.h"
#include KERNEL_COUNTERS_H

/* ---- registers that are none ------------------------------------------------------- */

#define OTHERS 0x40000e00u /* bits of DWT_CTRL that are somebody else's */

static struct {
    uint32_t at[DWT_REGISTERS];
    uint32_t step;    /* what a reading of CYCCNT takes */
    bool absent;      /* there is no such unit: TRCENA reads 0 */
    bool no_counter;  /* NOCYCCNT */
    bool stuck;       /* CYCCNT reads 0, as in an emulator that has the unit in name only */
    unsigned touched; /* while the unit was off */
} hw;

static bool on_now(void)
{
    return hw.at[DEMCR] & DEMCR_TRCENA;
}

/* The CPU executes for so many cycles. */
static void cycles_pass(uint64_t cycles)
{
    if (on_now() && (hw.at[DWT_CTRL] & DWT_CTRL_CYCCNTENA) && !hw.stuck && !hw.no_counter) {
        hw.at[DWT_CYCCNT] += (uint32_t)cycles;
    }
}

uint32_t dwt_read(enum fake_dwt reg)
{
    if (reg == DWT_CYCCNT) {
        cycles_pass(hw.step);
    }
    hw.touched += reg != DEMCR && !on_now();
    return hw.at[reg] | (reg == DWT_CTRL && hw.no_counter ? DWT_CTRL_NOCYCCNT : 0);
}

void dwt_write(enum fake_dwt reg, uint32_t value)
{
    if (reg == DEMCR && hw.absent) {
        value &= ~DEMCR_TRCENA;
    }
    hw.touched += reg != DEMCR && !on_now();
    hw.at[reg] = reg == DWT_CYCCNT && hw.stuck ? 0 : value;
}

static int reset(void **state)
{
    (void)state;
    around_reset();
    memset(&hw, 0, sizeof(hw));
    hw.step = 3;
    hw.at[DWT_CTRL] = OTHERS;
    hw.at[DWT_CYCCNT] = 0xdeadbeef; /* it has no value at reset */
    return 0;
}

/* ---- the port ---------------------------------------------------------------------- */

/* Readings that are less than 2^32 cycles apart, up to the last that is: each adds its own. */
static void test_wide(void **state)
{
    static const uint32_t apart[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    uint64_t want = 0;
    bool over = true;

    (void)state;
    hw.step = 0;
    arch_count_set(ARCH_COUNT_CYCLE, ARCH_COUNT_CYCLES, ARCH_COUNT_USER | ARCH_COUNT_KERNEL);
    assert_int_equal(arch_count_read(ARCH_COUNT_CYCLE, &over), 0);
    assert_false(over);
    for (unsigned n = 0; n < 20000; n++) {
        uint32_t cycles = random_below(2) ? apart[random_below(sizeof(apart) / sizeof(apart[0]))]
                                          : random_below(0xffffffff);
        cycles_pass(cycles);
        want += cycles;
        assert_int_equal(arch_count_read(ARCH_COUNT_CYCLE, &over), want);
        assert_false(over);
    }
    assert_true(want >> 32 > 1000); /* it has wrapped so often */
    arch_count_set(ARCH_COUNT_CYCLE, ARCH_COUNT_CYCLES, 0);
    cycles_pass(1000);
    assert_int_equal(arch_count_read(ARCH_COUNT_CYCLE, &over), want);
    arch_count_set(ARCH_COUNT_CYCLE, ARCH_COUNT_CYCLES, ARCH_COUNT_USER | ARCH_COUNT_KERNEL);
    assert_int_equal(arch_count_read(ARCH_COUNT_CYCLE, &over), 0);
    assert_int_equal(hw.at[DWT_CTRL], OTHERS | DWT_CTRL_CYCCNTENA);
}

/* ---- the variable ------------------------------------------------------------------ */

/* A thread that is never switched: the timer of every second reads often enough. 2^32 - 4 is what
 * the counter may count between two readings, which take 3 themselves. */
static void test_alone(void **state)
{
    static const uint32_t second[] = {84000000, 168000000, 0xfffffffc};

    (void)state;
    for (unsigned clock = 0; clock < sizeof(second) / sizeof(second[0]); clock++) {
        uint64_t want = 0, before;
        assert_int_equal(dtrace_port_counters(DTRACE_PORT_CYCLES, true), 0);
        before = dtrace_port_counter(DTRACE_PORT_CYCLES);
        for (unsigned n = 0; n < 200; n++) {
            cycles_pass(second[clock]);
            want += second[clock] + 3;
            time_passes();
        }
        assert_int_equal(dtrace_port_counter(DTRACE_PORT_CYCLES) - before, want + 3);
        assert_true(want >> 32 > 1);
        dtrace_port_counters(DTRACE_PORT_CYCLES, false);
    }
}

/* Two threads that take turns: each has its own cycles, wherever the counter wraps. */
static void test_switched(void **state)
{
    uint64_t want[2] = {0};

    (void)state;
    assert_int_equal(dtrace_port_counters(DTRACE_PORT_CYCLES, true), 0);
    assert_int_equal(site, 1);
    for (unsigned turn = 0; turn < 4000; turn++) {
        unsigned which = (unsigned)(fake_cpu->current - threads[0]);
        uint32_t cycles = random_below(8) ? random_below(1000) : 0xf0000000u;
        cycles_pass(cycles);
        want[which] += cycles + 3;
        assert_int_equal(dtrace_port_counter(DTRACE_PORT_CYCLES), want[which]);
        if (random_below(2)) {
            want[which] += 3; /* read at the switch */
            switch_to(&threads[0][!which]);
        }
    }
    assert_true(want[0] >> 32 > 1 && want[1] >> 32 > 1);
    dtrace_port_counters(DTRACE_PORT_CYCLES, false);
    assert_int_equal(site, 0);
    assert_int_equal(hw.at[DWT_CTRL], OTHERS);
}

/* ---- machines without -------------------------------------------------------------- */

/* Nothing is touched before somebody asks; then it is tried, and off again. */
static void test_facts(void **state)
{
    (void)state;
    assert_int_equal(hw.at[DEMCR], 0);
    assert_int_equal(dtrace_count_features(), KYMO_D_FEATURE_COUNTS_CYCLES);
    assert_int_equal(hw.at[DWT_CTRL], OTHERS);
    assert_int_equal(hw.touched, 0);
    assert_int_equal(dtrace_port_counters(DTRACE_PORT_INSTRUCTIONS, true), -ENOTSUP);
    assert_int_equal(count_take(), COUNTER_NONE);
    assert_false(count_facts()->interrupts);
}

static void refused(void)
{
    assert_int_equal(dtrace_count_features(), 0);
    assert_int_equal(dtrace_port_counters(DTRACE_PORT_CYCLES, true), -ENOTSUP);
    assert_int_equal(site, 0);
    assert_int_equal(hw.at[DWT_CTRL], OTHERS);
    assert_int_equal(hw.touched, 0);
}

static void test_no_counter(void **state)
{
    (void)state;
    hw.no_counter = true;
    refused();
}

static void test_stuck(void **state)
{
    (void)state;
    hw.stuck = true;
    hw.at[DWT_CYCCNT] = 0;
    refused();
}

static void test_absent(void **state)
{
    (void)state;
    hw.absent = true;
    refused();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_facts, reset),
        cmocka_unit_test_setup(test_wide, reset),
        cmocka_unit_test_setup(test_alone, reset),
        cmocka_unit_test_setup(test_switched, reset),
        cmocka_unit_test_setup(test_no_counter, reset),
        cmocka_unit_test_setup(test_stuck, reset),
        cmocka_unit_test_setup(test_absent, reset),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

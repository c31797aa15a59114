/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/arch/x86_64/lapic.c as an x2APIC, step by step (test/board/bochs.py boots on one). RDMSR
 * and WRMSR fault in a program: the handler does what they do, with registers of this test's,
 * which end it where the CPU would fault. The APIC in memory, xAPIC, is what the boot suites of
 * the board pc run on.
 */
#define _GNU_SOURCE /* REG_RIP */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <cmocka.h>

#include "kernel/arch/x86_64/board.h"
#include "kernel/arch/x86_64/lapic.h"

#define MSR_APIC_BASE 0x1bu
#define BOOT_CPU 0x100ul
#define X2 0x400ul
#define ENABLE 0x800ul
#define FIRST 0x800u
#define SENT_MOST 8

static uint64_t base, registers[0x40], sent[SENT_MOST];
static unsigned sends;

static void faults(const char *why)
{
    fprintf(stderr, "the CPU would fault: %s\n", why);
    _exit(1);
}

static uint64_t msr_read(uint32_t msr)
{
    if (msr == MSR_APIC_BASE) {
        return base;
    }
    if (msr < FIRST || msr >= FIRST + 0x40 || !(base & X2)) {
        faults("no such register");
    }
    return registers[msr - FIRST];
}

/* Of Intel's figure of the forms: off to x2APIC, and x2APIC to xAPIC, are no steps. */
static void base_write(uint64_t value)
{
    if ((value & X2) && (!(value & ENABLE) || !(base & ENABLE))) {
        faults("x2APIC from an APIC that is off");
    }
    if ((base & X2) && (value & ENABLE) && !(value & X2)) {
        faults("from x2APIC to xAPIC");
    }
    base = value;
}

static void msr_write(uint32_t msr, uint64_t value)
{
    if (msr == MSR_APIC_BASE) {
        base_write(value);
        return;
    }
    if (msr < FIRST || msr >= FIRST + 0x40 || !(base & X2) || msr == FIRST + LAPIC_ID / 16 ||
        msr == FIRST + LAPIC_ICR_TO / 16) {
        faults("a register that can't be written");
    }
    if (msr == FIRST + LAPIC_ICR / 16) {
        sent[sends++ % SENT_MOST] = value;
    } else if (value > UINT32_MAX || (msr == FIRST + LAPIC_EOI / 16 && value)) {
        faults("a wrong value");
    }
    registers[msr - FIRST] = value;
}

static void instruction(int sign, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *code = (const uint8_t *)r[REG_RIP];

    (void)info;
    (void)sign;
    if (code[0] == 0x0f && code[1] == 0x32) {
        uint64_t value = msr_read((uint32_t)r[REG_RCX]);
        r[REG_RAX] = (uint32_t)value;
        r[REG_RDX] = (greg_t)(value >> 32);
    } else if (code[0] == 0x0f && code[1] == 0x30) {
        msr_write((uint32_t)r[REG_RCX], (uint64_t)r[REG_RDX] << 32 | (uint32_t)r[REG_RAX]);
    } else {
        faults("another instruction");
    }
    r[REG_RIP] += 2;
}

/* At the beginning of each test: cmocka has handlers of its own. */
static void begin(void)
{
    const struct sigaction action = {.sa_sigaction = instruction, .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &action, NULL);
    memset(registers, 0, sizeof(registers));
    registers[LAPIC_ID / 16] = 0x12345;
    base = LAPIC | BOOT_CPU | ENABLE | X2;
    sends = 0;
    x86_lapic_begin();
}

static void the_firmwares_form_is_kept(void **state)
{
    (void)state;
    begin();
    assert_true(x86_lapic_x2);
    x86_lapic_enable();
    assert_int_equal(base, LAPIC | BOOT_CPU | ENABLE | X2);
    assert_true(x86_apic_wide());
    base = LAPIC | BOOT_CPU | ENABLE;
    x86_lapic_begin();
    assert_false(x86_lapic_x2);
    x86_lapic_enable();
    assert_int_equal(base, LAPIC | BOOT_CPU | ENABLE);
}

/* Another CPU's APIC is off or an xAPIC when it begins. */
static void every_cpu_comes_to_it(void **state)
{
    static const uint64_t flags[] = {0, ENABLE, ENABLE | X2};

    (void)state;
    begin();
    for (unsigned i = 0; i < 3; i++) {
        base = LAPIC | flags[i];
        x86_lapic_enable();
        assert_int_equal(base, LAPIC | ENABLE | X2);
    }
}

/* A machine whose xAPIC can't reach all CPUs; without x2APIC these are left out. */
static void it_is_enabled_where_it_is_there(void **state)
{
    uint32_t features[4];

    (void)state;
    begin();
    x86_cpuid(1, features);
    base = LAPIC | BOOT_CPU | ENABLE;
    x86_lapic_begin();
    assert_int_equal(x86_apic_wide(), features[2] >> 21 & 1);
    assert_int_equal(x86_lapic_x2, features[2] >> 21 & 1);
    assert_int_equal(base & X2, x86_lapic_x2 ? X2 : 0);
}

static void registers_are_of_32_bits(void **state)
{
    (void)state;
    begin();
    assert_int_equal(x86_apic_id(), 0x12345);
    lapic_write(LAPIC_TIMER_START, UINT32_MAX);
    lapic_write(LAPIC_EOI, 0);
    assert_int_equal(registers[0x38], UINT32_MAX);
    registers[0x39] = 77;
    assert_int_equal(lapic_read(LAPIC_TIMER_NOW), 77);
}

static void one_write_sends(void **state)
{
    (void)state;
    begin();
    registers[LAPIC_ICR / 16] = 0x1000; /* xAPIC's bit for busy means nothing */
    x86_lapic_send(0xabcde, 0xf1);
    assert_int_equal(sent[0], 0xabcdeull << 32 | 0x40f1);
    x86_lapic_send(3, ICR_INIT);
    assert_int_equal(sent[1], 3ull << 32 | 0x4500);
    x86_lapic_send(3, ICR_START | 8);
    assert_int_equal(sent[2], 3ull << 32 | 0x4608);
    uint32_t state_of_nmi = x86_lapic_save();
    x86_lapic_send_self(0xf3);
    assert_int_equal(sent[3], 0x440f3);
    x86_lapic_restore(state_of_nmi);
    assert_int_equal(sends, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_firmwares_form_is_kept),
        cmocka_unit_test(every_cpu_comes_to_it),
        cmocka_unit_test(it_is_enabled_where_it_is_there),
        cmocka_unit_test(registers_are_of_32_bits),
        cmocka_unit_test(one_write_sends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

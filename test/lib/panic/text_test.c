/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/panic/text.c: each row of a whole record of both machines, and records of random bytes: rows
 * end, are printable, fit, and never look like two attributes. Built with ASan and UBSan; the
 * record is a heap block of its exact size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/panic/text.h"

#define ROUNDS 20000
#define ROWS_MOST 64

static struct kymo_panic *record;

static int make(void **state)
{
    (void)state;
    record = calloc(1, sizeof(*record));
    assert_non_null(record);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    free(record);
    return 0;
}

/* All rows as "KEY value\n". */
static const char *all(void)
{
    static char text[ROWS_MOST * (PANIC_KEY + PANIC_VALUE + 2)];
    char key[PANIC_KEY], value[PANIC_VALUE];
    size_t at = 0;

    for (unsigned n = 0; panic_text(record, n, key, value); n++) {
        assert_in_range(n, 0, ROWS_MOST - 1);
        at += (size_t)sprintf(text + at, "%s %s\n", key, value);
    }
    return text;
}

static void fill(unsigned machine, unsigned registers)
{
    record->kind = KYMO_PANIC_WATCHDOG;
    record->machine = machine;
    record->cpu = 1;
    record->pid = 7;
    record->tid = 2;
    record->call = 113;
    record->time = 0x123456789abull;
    strcpy(record->reason, "not armed again in time");
    strcpy(record->process, "pump");
    record->nregisters = registers;
    for (unsigned i = 0; i < registers; i++) {
        record->registers[i] = 0xa0000000u + i;
    }
}

static void a_cortex_m(void **state)
{
    (void)state;
    fill(KYMO_PANIC_MACHINE_ARM, KYMO_PANIC_ARM_COUNT);
    record->nframes = 1;
    record->frames[0] = 0x1234;
    assert_string_equal(all(),
                        "PANIC watchdog\n"
                        "PANIC_REASON not armed again in time\n"
                        "PANIC_WHERE CPU 1, process 7 (pump), thread 2, call 113\n"
                        "PANIC_TIME 1250999896491\n"
                        "PANIC_REGISTERS_1 r0=a0000000 r1=a0000001 r2=a0000002 r3=a0000003\n"
                        "PANIC_REGISTERS_2 r4=a0000004 r5=a0000005 r6=a0000006 r7=a0000007\n"
                        "PANIC_REGISTERS_3 r8=a0000008 r9=a0000009 r10=a000000a r11=a000000b\n"
                        "PANIC_REGISTERS_4 r12=a000000c sp=a000000d lr=a000000e pc=a000000f\n"
                        "PANIC_REGISTERS_5 xpsr=a0000010 cfsr=a0000011 hfsr=a0000012 "
                        "mmfar=a0000013\n"
                        "PANIC_REGISTERS_6 bfar=a0000014\n"
                        "PANIC_STACK_1 1234\n"); /* nothing of stacks: an older kernel's record */
}

static void an_aarch64(void **state)
{
    (void)state;
    fill(KYMO_PANIC_MACHINE_AARCH64, KYMO_PANIC_AARCH64_COUNT);
    record->pid = 0;
    record->ncpus = 3;
    record->cpus[0] = (struct kymo_panic_cpu){.cpu = 0, .state = KYMO_PANIC_CPU_IDLE};
    record->cpus[1] = (struct kymo_panic_cpu){2, KYMO_PANIC_CPU_RUNNING, 4, 1, 0x400100, 0};
    record->cpus[2] = (struct kymo_panic_cpu){3, KYMO_PANIC_CPU_SILENT, 5, 6, 0x400200, 0};
    const char *text = all();

    assert_non_null(strstr(text, "PANIC_WHERE CPU 1, no process\n"
                                 "PANIC_TIME 1250999896491\n"
                                 "PANIC_CPU_1 CPU 0: idle\n"
                                 "PANIC_CPU_2 CPU 2: process 4, thread 1, ip 400100\n"
                                 "PANIC_CPU_3 CPU 3: no answer, last in process 5, thread 6, "
                                 "ip 400200\n"
                                 "PANIC_REGISTERS_1 x0=00000000a0000000 x1=00000000a0000001 "
                                 "x2=00000000a0000002\n"));
    assert_non_null(strstr(text, "PANIC_REGISTERS_12 psr=00000000a0000021 esr=00000000a0000022 "
                                 "far=00000000a0000023\n"));
}

static void how_deep_the_stacks_were(void **state)
{
    (void)state;
    fill(KYMO_PANIC_MACHINE_AARCH64, KYMO_PANIC_AARCH64_COUNT);
    record->stack_bytes = 16384;
    record->stack_used[1] = 1836;
    record->stack_used[2] = 16384;
    record->stack_used[7] = 8;
    assert_non_null(strstr(all(), "PANIC_STACK_USED_1 CPU 1: 1836 of 16384 bytes\n"
                                  "PANIC_STACK_USED_2 CPU 2: 16384 of 16384 bytes\n"
                                  "PANIC_STACK_USED_3 CPU 7: 8 of 16384 bytes\n"));
    record->stack_used[0] = 4;
    record->stack_used[7] = 0;
    assert_non_null(strstr(all(), "PANIC_STACK_USED_1 CPU 0: 4 of 16384 bytes\n"));
    assert_null(strstr(all(), "CPU 7"));
    record->stack_bytes = 0;
    assert_null(strstr(all(), "PANIC_STACK_USED"));
}

static void a_long_reason(void **state)
{
    char want[3 * PANIC_VALUE];

    (void)state;
    memset(record->reason, 'a', 141);
    const char *text = all();
    snprintf(want, sizeof(want), "PANIC_REASON %.70s\nPANIC_REASON_2 %.70s\nPANIC_REASON_3 a\n",
             record->reason, record->reason);
    assert_non_null(strstr(text, want));
}

static void it_does_not_end_an_attribute(void **state)
{
    (void)state;
    strcpy(record->reason, "TRACE_HEADER_END::x\033[2J");
    assert_non_null(strstr(all(), "PANIC_REASON TRACE-HEADER_END.:x?[2J\n"));
}

static void check_row(const char *key, const char *value)
{
    assert_true(strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == strlen(key));
    assert_true(strlen(value) < PANIC_VALUE);
    assert_null(strstr(value, "::"));
    assert_null(strstr(value, "TRACE_"));
    for (; *value; value++) {
        assert_in_range(*value, ' ', '~');
    }
}

static void anything(void **state)
{
    unsigned seed = 1;

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        char key[PANIC_KEY], value[PANIC_VALUE];
        unsigned n = 0;

        for (size_t i = 0; i < sizeof(*record); i++) {
            ((uint8_t *)record)[i] = (uint8_t)(rand_r(&seed) >> 7);
        }
        if (round % 2) { /* else hardly any has a machine, or counts that are not too large */
            record->machine = round % 4 == 1 ? 40 : 183;
            record->kind %= 5;
            record->nregisters %= 40;
            record->nframes %= 20;
            record->ncpus %= 10;
        }
        while (panic_text(record, n, key, value)) {
            check_row(key, value);
            assert_in_range(++n, 1, ROWS_MOST);
        }
        assert_false(panic_text(record, UINT32_MAX, key, value));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_cortex_m, make, drop),
        cmocka_unit_test_setup_teardown(an_aarch64, make, drop),
        cmocka_unit_test_setup_teardown(how_deep_the_stacks_were, make, drop),
        cmocka_unit_test_setup_teardown(a_long_reason, make, drop),
        cmocka_unit_test_setup_teardown(it_does_not_end_an_attribute, make, drop),
        cmocka_unit_test_setup_teardown(anything, make, drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

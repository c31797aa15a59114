/* SPDX-License-Identifier: BSD-2-Clause */
/* The high-water marks of the kernel's stacks: kernel/observe/stack.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/observe/observe.h"
#include "kernel/base/cpu.h"
#include "test/tool/failed.h"
#include "test/kernel/fake/fake.h"

#define WORDS 64

static uint32_t stacks[CONFIG_CPUS][WORDS];

void arch_kernel_stack(unsigned n, uintptr_t *low, uintptr_t *high)
{
    *low = (uintptr_t)stacks[n];
    *high = (uintptr_t)stacks[n] + sizeof(stacks[n]);
}

/* As a function does that has n words of the stack and writes the lowest one. */
static void deep(unsigned cpu, unsigned n)
{
    stacks[cpu][WORDS - n] = 0;
}

static int fill(void **state)
{
    (void)state;
    kernel_stack_fill();
    fake_cpu = &cpus[1];
    cpus[1].id = 1;
    cpus[1].bit = 1u << 1;
    return 0;
}

static void a_mark_grows_and_stays(void **state)
{
    (void)state;
    assert_int_equal(kernel_stack_bytes(2), sizeof(stacks[2]));
    assert_int_equal(kernel_stack_used(2), 0);
    deep(2, 3);
    assert_int_equal(kernel_stack_used(2), 12);
    deep(2, 20);
    deep(2, 7);
    assert_int_equal(kernel_stack_used(2), 80);
    deep(2, WORDS);
    assert_int_equal(kernel_stack_used(2), sizeof(stacks[2]));
    assert_int_equal(kernel_stack_used(1), 0);
    assert_int_equal(kernel_stack_used(3), 0);
}

static void the_last_word_ends_it(void **state)
{
    (void)state;
    deep(0, WORDS);
    deep(1, WORDS - 1);
    assert_false(failed_in(kernel_stack_check));
    deep(1, WORDS);
    assert_true(failed_in(kernel_stack_check));
    assert_string_equal(failed_text, "kernel stack overflow on CPU 1: its lowest word was written");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_mark_grows_and_stays, fill),
        cmocka_unit_test_setup(the_last_word_ends_it, fill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

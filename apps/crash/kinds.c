/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways to crash, one function each. machine.h supplies the CPU-specific parts. A function that
 * returns means that the system did not prevent it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apps/crash/crash.h"
#include "apps/crash/machine.h"

static volatile uint32_t crash_sink;
static const uint32_t crash_const_word = 0x1234;
static uint32_t data_code[] = CRASH_RETURN_CODE;
static const char *crash_argument_text;

static void read_at(uintptr_t address)
{
    crash_sink = *(volatile uint32_t *)address;
}

static void crash_write_at(uintptr_t address)
{
    *(volatile uint32_t *)address = 0xdeadbeef;
}

static void jump_to(uintptr_t address)
{
    ((void (*)(void))(address | CRASH_JUMP_BIT))();
}

void kind_null_read(void)
{
    read_at(crash_launder(0));
}

void kind_null_write(void)
{
    crash_write_at(crash_launder(0));
}

void kind_null_jump(void)
{
    jump_to(crash_launder(0));
}

void kind_wild_jump(void)
{
    jump_to(CRASH_UNMAPPED);
}

void kind_kernel_read(void)
{
    read_at(CRASH_KERNEL_DATA);
}

void kind_kernel_write(void)
{
    crash_write_at(CRASH_KERNEL_DATA);
}

void kind_kernel_jump(void)
{
    jump_to(CRASH_KERNEL_TEXT);
}

void kind_text_write(void)
{
    crash_write_at((uintptr_t)kind_text_write & ~(uintptr_t)3);
}

void kind_const_write(void)
{
    crash_write_at(crash_launder((uintptr_t)&crash_const_word));
}

void kind_data_jump(void)
{
    jump_to((uintptr_t)data_code);
}

void kind_stack_jump(void)
{
    uint32_t code[sizeof(data_code) / sizeof(data_code[0])];

    memcpy(code, data_code, sizeof(code));
    jump_to(crash_launder((uintptr_t)code));
}

/* Not a tail call: each level keeps part of the stack in use. */
static unsigned crash_recurse_deeper(unsigned level)
{
    volatile char use[128];

    memset((char *)use, (int)level, sizeof(use));
    return level == UINT32_MAX
               ? 0
               : crash_recurse_deeper(level + 1) + (unsigned)use[level % sizeof(use)];
}

void kind_stack_overflow(void)
{
    crash_sink = crash_recurse_deeper(0);
}

void kind_undefined(void)
{
    crash_undefined();
}

void kind_breakpoint(void)
{
    crash_breakpoint();
}

void kind_semihost(void)
{
    crash_semihost();
}

void kind_privileged(void)
{
    crash_privileged();
}

void kind_device(void)
{
    crash_write_at(CRASH_DEVICE);
}

void kind_misaligned(void)
{
    static uint64_t words[3];

    crash_misaligned((char *)words + 1);
}

void kind_divide(void)
{
    volatile int zero = 0;
    volatile int one = 1;

    crash_sink = (uint32_t)(one / zero);
    exit(0);
}

void kind_abort(void)
{
    abort();
}

void kind_bad_stack(void)
{
    crash_bad_stack(CRASH_UNMAPPED);
}

void kind_other(void)
{
    crash_write_at((uintptr_t)strtoull(crash_argument_text ? crash_argument_text : "0", NULL, 0));
}

void crash_argument(const char *text)
{
    crash_argument_text = text;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The high-water marks of the kernel's stacks. Boot fills the stacks with a pattern; words that no
 * longer have it were in use. A function that reserves memory and doesn't write it leaves the
 * pattern: a mark may be a few words short. Tested by test/kernel/observe/stack_test.c and
 * test/board/dies/panics.py.
 */
#include "kernel/observe/observe.h"

#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/panic.h"
#include "kernel/arch/stack.h"
#include "kernel/base/cpu.h"

#define FILL 0x6b636174u
#define FRAME_ROOM 64 /* below the stack pointer of the function that fills */

void kernel_stack_fill(void)
{
    uintptr_t pc, sp, fp, low, high;

    arch_frame_here(&pc, &sp, &fp);
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        arch_kernel_stack(n, &low, &high);
        high = sp >= low && sp < high ? sp - FRAME_ROOM : high;
        for (volatile uint32_t *word = (uint32_t *)low; word < (uint32_t *)high; word++) {
            *word = FILL;
        }
    }
}

uint32_t kernel_stack_bytes(unsigned n)
{
    uintptr_t low, high;

    arch_kernel_stack(n, &low, &high);
    return (uint32_t)(high - low);
}

bool kernel_stack_look(unsigned n, uint32_t most, uint32_t *unused)
{
    uintptr_t low, high;

    arch_kernel_stack(n, &low, &high);
    uintptr_t end = high - low - *unused > most ? low + *unused + most : high;
    const volatile uint32_t *word = (const uint32_t *)(low + *unused), *top = (const uint32_t *)end;
    while (word + 4 <= top &&
           ((word[0] ^ FILL) | (word[1] ^ FILL) | (word[2] ^ FILL) | (word[3] ^ FILL)) == 0) {
        word += 4;
    }
    while (word < top && *word == FILL) {
        word++;
    }
    *unused = (uint32_t)((uintptr_t)word - low);
    return word < top || end == high;
}

uint32_t kernel_stack_used(unsigned n)
{
    uint32_t unused = 0;

    kernel_stack_look(n, UINT32_MAX, &unused);
    return kernel_stack_bytes(n) - unused;
}

void kernel_stack_check(void)
{
    unsigned n = arch_cpu()->id;
    uintptr_t low, high;

    arch_kernel_stack(n, &low, &high);
    if (*(const volatile uint32_t *)low != FILL) {
        kernel_panic("kernel stack overflow on CPU %u: its lowest word was written", n);
    }
}

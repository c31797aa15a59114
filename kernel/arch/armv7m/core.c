/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: the one CPU, its name, and reset. Functions of kernel/arch/cpu.h that concern several
 * CPUs fail or do nothing.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/coroutine.h"
#include "kernel/arch/cpu.h"

int arch_cpu_start(unsigned n)
{
    (void)n;
    return -ENODEV;
}

unsigned arch_cpu_count(void)
{
    return 1;
}

void arch_ipi(uint32_t cpus)
{
    (void)cpus;
}

char armv7m_long_stack[LONG_STACK] __attribute__((aligned(16)));

void arch_kernel_stack(unsigned n, uintptr_t *low, uintptr_t *high)
{
    (void)n;
    *low = (uintptr_t)kernel_stack_low;
    *high = (uintptr_t)kernel_stack_top;
}

void arch_long_stack(uintptr_t *low, uintptr_t *high)
{
    *low = (uintptr_t)armv7m_long_stack;
    *high = *low + LONG_STACK;
}

const char *arch_cpu_name(void)
{
    switch ((CPUID >> 4) & 0xfff) {
    case 0xc23:
        return "cortex-m3";
    case 0xc24:
        return "cortex-m4";
    case 0xc27:
        return "cortex-m7";
    default:
        return "armv7-m";
    }
}

/* Nothing has to be done: no board of this port enables a data cache; there is only the write
 * buffer. */
void arch_cache_clean(const void *start, size_t len)
{
    (void)start;
    (void)len;
    __asm__ volatile("dsb" ::: "memory");
}

void arch_reset(void)
{
    __asm__ volatile("cpsid i\n\tdsb" ::: "memory");
    AIRCR = AIRCR_KEY | AIRCR_SYSRESETREQ;
    for (;;) {
        __asm__ volatile("dsb");
    }
}

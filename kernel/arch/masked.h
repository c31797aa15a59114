/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch_irq_save(), arch_irq_restore() and arch_irq_as_entered() of a port whose kernel runs with
 * interrupts masked from its first instruction to its last: only the compiler has to keep the
 * order. Not a topic: only a port's ops.h includes it.
 */
#ifndef KERNEL_ARCH_MASKED_H
#define KERNEL_ARCH_MASKED_H

#include <stdbool.h>
#include <stdint.h>

static inline uintptr_t arch_irq_save(void)
{
    __asm__ volatile("" ::: "memory");
    return 0;
}

static inline void arch_irq_restore(uintptr_t state)
{
    (void)state;
    __asm__ volatile("" ::: "memory");
}

static inline bool arch_irq_as_entered(void)
{
    return true;
}

#endif

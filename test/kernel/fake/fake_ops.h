/* SPDX-License-Identifier: BSD-2-Clause */
/* A CPU port that is none: enough of kernel/arch/'s inlines to run kernel files on this
 * machine. Physical addresses are this program's own. */
#ifndef TEST_KERNEL_FAKE_FAKE_OPS_H
#define TEST_KERNEL_FAKE_FAKE_OPS_H

#include "test/kernel/fake/fake_rest.h"

extern struct cpu *fake_cpu; /* where the kernel runs */

static inline struct cpu *arch_cpu(void)
{
    return fake_cpu;
}
static inline bool arch_spin_try(volatile uint32_t *lock)
{
    bool taken = *lock == 0;
    *lock = 1;
    return taken;
}
static inline void arch_spin_release(volatile uint32_t *lock)
{
    *lock = 0;
}
static inline void arch_spin_hint(void)
{
}

#endif

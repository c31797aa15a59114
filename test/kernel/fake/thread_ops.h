/* SPDX-License-Identifier: BSD-2-Clause */
/* As fake_ops.h, but a CPU is a thread of this machine: for what CPUs do to each other. */
#ifndef TEST_KERNEL_FAKE_THREAD_OPS_H
#define TEST_KERNEL_FAKE_THREAD_OPS_H

#include "test/kernel/fake/fake_rest.h"

int sched_yield(void); /* <sched.h> has names that are the kernel's too */

extern _Thread_local struct cpu *thread_cpu;

static inline struct cpu *arch_cpu(void)
{
    return thread_cpu;
}
static inline bool arch_spin_try(volatile uint32_t *lock)
{
    uint32_t free = 0;

    return __atomic_compare_exchange_n(lock, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
static inline void arch_spin_release(volatile uint32_t *lock)
{
    __atomic_fetch_and(lock, ~0xffu, __ATOMIC_RELEASE);
}
/* There may be fewer processors than CPUs. */
static inline void arch_spin_hint(void)
{
    sched_yield();
}

#endif

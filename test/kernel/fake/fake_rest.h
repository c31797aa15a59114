/* SPDX-License-Identifier: BSD-2-Clause */
/* What a CPU port that is none has, however its CPUs are made: fake_ops.h, thread_ops.h. */
#ifndef TEST_KERNEL_FAKE_FAKE_REST_H
#define TEST_KERNEL_FAKE_FAKE_REST_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/arch/turns.h"

#define ARCH_CODE_SHIFT 1
#define ARCH_CALL_PUSHES 0

struct thread;
struct cpu;

struct arch_context {
    long value;
    int error;
};
struct arch_aspace {
    int mapped; /* mappings it has */
    /* These are for test/kernel/arch/mmu/: the table of 1 GB each, and where a search begins. */
    uintptr_t top, search_from;
};

extern uint64_t fake_cycles;
extern struct thread *fake_running[]; /* by CPU: what arch_switch() was told */
void fake_switch(struct thread *prev, struct thread *next);

static inline void arch_frame_here(uintptr_t *pc, uintptr_t *sp, uintptr_t *fp)
{
    *pc = *sp = *fp = 0;
}

static inline void arch_calls_direct(bool on)
{
    (void)on;
}

static inline volatile uint32_t *arch_address(volatile uint32_t *word)
{
    return word;
}

static inline uintptr_t arch_irq_save(void)
{
    return 0;
}
static inline void arch_irq_restore(uintptr_t state)
{
    (void)state;
}
static inline bool arch_irq_as_entered(void)
{
    return true;
}
static inline uint64_t arch_cycles(void)
{
    return fake_cycles;
}
static inline void *arch_phys_to_virt(uintptr_t pa)
{
    return (void *)pa;
}
static inline uintptr_t arch_virt_to_phys(const void *va)
{
    return (uintptr_t)va;
}
static inline void arch_switch(struct thread *prev, struct thread *next)
{
    fake_switch(prev, next);
}
static inline void arch_switch_save(struct thread *prev)
{
    (void)prev;
}
static inline void arch_switch_space(struct thread *prev, struct thread *next)
{
    fake_switch(prev, next);
}
static inline void arch_switch_load(struct thread *next)
{
    (void)next;
}
static inline bool arch_cas32(volatile uint32_t *p, uint32_t expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}
static inline void arch_context_set_result(struct thread *t, long value, int error)
{
    struct arch_context *ctx = (struct arch_context *)t;
    ctx->value = value;
    ctx->error = error;
}
static inline void arch_request_exit(void)
{
}

static inline uint64_t arch_multiply_high(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

#endif

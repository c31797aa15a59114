/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A CPU port for tests of the whole kernel on this machine. The kernel has no stacks of threads, so
 * "running a thread" is the test calling kernel_call() in its name; CPUs take turns as the test
 * says (fake_cpu). Physical addresses are this program's own; virtual ones are not (fake.c).
 */
#ifndef TEST_KERNEL_WORLD_FAKE_OPS_H
#define TEST_KERNEL_WORLD_FAKE_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/arch/turns.h"

struct thread;
struct cpu;

struct arch_context {
    uintptr_t free_link; /* the pool's, while the thread is free */
    long value;          /* of the call that it returned from last */
    int error;
    bool returned; /* since the test last looked */
};
struct arch_aspace {
    uintptr_t next; /* where the next mapping goes */
};

void fake_result(const struct thread *t, int error);
extern unsigned fake_cpu;
extern uint64_t fake_now;
extern bool fake_clock_stands;
struct cpu *fake_this_cpu(void);
void fake_lock_taken(volatile uint32_t *lock);
void fake_spin(void);
/* Another CPU's user code may change a word just before a compare-and-swap: the test's hook. */
extern void (*fake_before_cas)(volatile uint32_t *p);
/* In a preemption point of a long call: interrupts may come to this CPU (lock held). */
extern void (*fake_irq_window)(void);
/* The lock is free in a preemption point: other CPUs may enter the kernel. */
extern void (*fake_lock_window)(void);
extern bool fake_lock_wanted; /* there are such */
/* Where tables grow: returns whether an entry that is wanted has no memory. NULL: never. */
extern bool (*fake_memory_short)(void);

static inline struct cpu *arch_cpu(void)
{
    return fake_this_cpu();
}
static inline void arch_frame_here(uintptr_t *pc, uintptr_t *sp, uintptr_t *fp)
{
    *pc = *sp = *fp = 0;
}

extern bool fake_calls_direct;

static inline void arch_calls_direct(bool on)
{
    fake_calls_direct = on;
}

extern uintptr_t fake_masked; /* calls of arch_irq_save() that nothing has undone yet */

static inline uintptr_t arch_irq_save(void)
{
    return fake_masked++;
}
static inline void arch_irq_restore(uintptr_t state)
{
    fake_masked = state;
}
static inline bool arch_irq_as_entered(void)
{
    return fake_masked == 0;
}
/* Before a CPU takes the lock other CPUs may do something, once; false: one of them has it then. */
extern bool (*fake_before_lock)(void);
extern bool fake_lock_kept; /* that one has it until it is waited for, however often it is tried */
bool fake_lock_is_free(void);

static inline bool arch_spin_try(volatile uint32_t *lock)
{
    if (fake_lock_kept || (fake_before_lock && !fake_lock_is_free())) {
        return false;
    }
    fake_lock_taken(lock);
    return true;
}
static inline void arch_spin_release(volatile uint32_t *lock)
{
    *lock = 0;
}
static inline void arch_spin_hint(void)
{
    fake_spin();
}
static inline uint64_t arch_cycles(void)
{
    return fake_clock_stands ? fake_now : fake_now++;
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
    (void)prev;
    (void)next;
}

static inline void arch_switch_save(struct thread *prev)
{
    (void)prev;
}

static inline void arch_switch_space(struct thread *prev, struct thread *next)
{
    arch_switch(prev, next);
}

static inline void arch_switch_load(struct thread *next)
{
    (void)next;
}
static inline volatile uint32_t *arch_address(volatile uint32_t *word)
{
    return word;
}

static inline bool arch_cas32(volatile uint32_t *p, uint32_t expected, uint32_t desired)
{
    if (fake_before_cas) {
        fake_before_cas(p);
    }
    return __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}
static inline void arch_context_set_result(struct thread *t, long value, int error)
{
    struct arch_context *ctx = (struct arch_context *)t;
    ctx->value = value;
    ctx->error = error;
    ctx->returned = true;
    fake_result(t, error);
}
static inline void arch_request_exit(void)
{
}

static inline uint64_t arch_multiply_high(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

#endif

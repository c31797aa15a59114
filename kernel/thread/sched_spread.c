/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rebalancing: which other CPUs to kick for READY threads that this one doesn't run. Kernel lock
 * held; called when this CPU has its thread. Tested by test/unit_kernel/sched_test.c.
 */
#include "kernel/arch/cpu.h"
#include "kernel/thread/sched_impl.h"
#include "kernel/thread/cpu.h"

/*
 * Returns the priority that a thread must exceed to concern this CPU: that of its running thread,
 * or one less if that thread should share the CPU with its equals and the CPU has not been notified
 * yet (see quantum_check).
 */
static inline int cpu_threshold(const struct cpu *cpu)
{
    const struct thread *t = cpu->current;

    if (!t) {
        return -1;
    }
    return t->priority - (t->policy != SCHED_FIFO && cpu->quantum_end == UINT64_MAX);
}

/* The lowest threshold of these CPUs. Bounded by CONFIG_CPUS. */
static int lowest_threshold(uint32_t mask)
{
    int lowest = PRIORITIES;

    for (; mask; mask &= mask - 1) {
        int threshold = cpu_threshold(&cpus[__builtin_ctz(mask)]);
        lowest = threshold < lowest ? threshold : lowest;
    }
    return lowest;
}

/* Returns the CPU among these that t should take: its last one if idle, else an idle one, else the
 * one with the lowest threshold below t's priority. NULL: none. */
static struct cpu *cpu_for(const struct thread *t, uint32_t mask)
{
    struct cpu *best = NULL;
    int lowest = t->priority;

    mask &= t->runmask;
    if (mask & sched.idle_cpus) {
        mask &= sched.idle_cpus;
        return &cpus[mask >> t->cpu & 1 ? t->cpu : (unsigned)__builtin_ctz(mask)];
    }
    for (; mask; mask &= mask - 1) {
        struct cpu *cpu = &cpus[__builtin_ctz(mask)];
        if (cpu_threshold(cpu) < lowest) {
            lowest = cpu_threshold(cpu);
            best = cpu;
        }
    }
    return best;
}

/* Returns the CPUs that could be kicked: online, not this one, and not kicked already. */
static uint32_t cpus_to_tell(const struct cpu *self)
{
    uint32_t mask = cpus_online & ~(1u << self->id);

    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned n = (unsigned)__builtin_ctz(rest);
        if (cpus[n].trace.exit_work & WORK_RESCHED) {
            mask &= ~(1u << n);
        }
    }
    return mask;
}

/* Kicks other CPUs that should run READY threads. They in turn kick the next ones. */
void sched_spread(const struct cpu *self)
{
    kernel_assert(kernel_locked());
    kernel_assert(self == arch_cpu());
    queue_settle();
    uint32_t mask = cpus_to_tell(self);
    struct thread *t = sched.above ? queue_thread(PRIORITIES - sched.above) : NULL;

    while (mask && t && (int)t->priority > lowest_threshold(mask)) {
        struct cpu *cpu = cpu_for(t, mask);
        if (cpu) {
            mask &= ~(1u << cpu->id);
            cpu_request(cpu, WORK_RESCHED);
        }
        t = queue_after(t);
    }
}

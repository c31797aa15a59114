/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace port of AArch64: TPIDR_EL1 is the kernel's struct cpu, whose first member is struct
 * trace_cpu; the virtual counter is 64 bits wide; sites are patched between nop and b. See
 * trace/port.h for the contracts.
 */
#ifndef TRACE_PORT_AARCH64_H
#define TRACE_PORT_AARCH64_H

#define TRACE_PORT_CLOCK_BITS 64
#define TRACE_PORT_CPU_BITS(cpu) ((uint32_t)(cpu)->cpu_bits)

static inline __attribute__((always_inline)) struct trace_cpu *trace_port_cpu(void)
{
    struct trace_cpu *cpu;
    __asm__("mrs %0, tpidr_el1" : "=r"(cpu));
    return cpu;
}

static inline __attribute__((always_inline)) uintptr_t trace_port_irq_save(void)
{
    uintptr_t state;
    __asm__ volatile("mrs %0, daif\n\tmsr daifset, #2" : "=r"(state)::"memory");
    return state;
}

static inline __attribute__((always_inline)) void trace_port_irq_restore(uintptr_t state)
{
    __asm__ volatile("msr daif, %0" ::"r"(state) : "memory");
}

/* No isb: a stamp may be a few instructions early; the log keeps them increasing. */
static inline __attribute__((always_inline)) uint64_t trace_port_clock(void)
{
    uint64_t now;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
}

static inline uint32_t trace_port_clock_low(void)
{
    return (uint32_t)trace_port_clock();
}

static inline __attribute__((always_inline)) bool trace_port_site_on(unsigned id)
{
    __asm__ goto("1: nop\n\t"
                 ".pushsection trace_sites, \"a\"\n\t"
                 ".balign 8\n\t"
                 ".xword 1b, %l[on], %c0\n\t"
                 ".popsection"
                 :
                 : "i"(id)
                 :
                 : on);
    return false;
on:
    return true;
}

static inline bool trace_port_cas32(volatile uint32_t *p, uint32_t expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

#endif

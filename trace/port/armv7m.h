/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace port of Cortex-M: one CPU, a 32-bit timer extended in software, sites patched between nop.w
 * and b.w. The board gives TRACE_CLOCK_REG (address of a free-running 32-bit timer) and
 * TRACE_CLOCK_INVERT (0xffffffff if it counts down, else 0). See trace/port.h for the contracts.
 */
#ifndef TRACE_PORT_ARMV7M_H
#define TRACE_PORT_ARMV7M_H

#define TRACE_PORT_CLOCK_BITS 32
#define TRACE_PORT_CPU_BITS(cpu) 0u /* one CPU, number 0 */

/* The kernel's cpus[0]; struct trace_cpu is its first member. */
extern char trace_port_cpus[] __asm__("cpus");

static inline __attribute__((always_inline)) struct trace_cpu *trace_port_cpu(void)
{
    struct trace_cpu *cpu;
    /* Through asm: the compiler must not think that this can't alias the kernel's `cpus`. */
    __asm__("" : "=r"(cpu) : "0"(trace_port_cpus));
    return cpu;
}

static inline __attribute__((always_inline)) uintptr_t trace_port_irq_save(void)
{
    uintptr_t state;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(state)::"memory");
    return state;
}

static inline __attribute__((always_inline)) void trace_port_irq_restore(uintptr_t state)
{
    __asm__ volatile("msr primask, %0" ::"r"(state) : "memory");
}

static inline __attribute__((always_inline)) uint32_t trace_port_clock_low(void)
{
    return *(volatile uint32_t *)TRACE_CLOCK_REG ^ (uint32_t)TRACE_CLOCK_INVERT;
}

uint64_t trace_clock_extend(uint32_t low); /* trace/clock.c */

static inline uint64_t trace_port_clock(void)
{
    return trace_clock_extend(trace_port_clock_low());
}

static inline __attribute__((always_inline)) bool trace_port_site_on(unsigned id)
{
    __asm__ goto("1: nop.w\n\t"
                 ".pushsection trace_sites, \"a\"\n\t"
                 ".balign 4\n\t"
                 ".word 1b, %l[on], %c0\n\t"
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

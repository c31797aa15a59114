/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the trace ports of Cortex-M, armv6m.h and armv7m.h, which include this file: one CPU,
 * interrupts masked by PRIMASK, and a 32-bit clock extended in software. See trace/port.h for the
 * contracts.
 */
#ifndef TRACE_PORT_ARMVM_H
#define TRACE_PORT_ARMVM_H

#define TRACE_PORT_CLOCK_BITS 32
#define TRACE_PORT_HEADER(cpu, code) (code) /* one CPU, number 0 */
#define TRACE_PORT_CODE_HIGH 0u

#include TRACE_PORT_SYSTEM_H

static inline __attribute__((always_inline)) uintptr_t trace_port_irq_save(void)
{
    uintptr_t state;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(state)::"memory");
    return state;
}

/* PRIMASK ignores all bits but the lowest. */
static inline __attribute__((always_inline)) void trace_port_irq_restore(uintptr_t state)
{
    __asm__ volatile("msr primask, %0" ::"r"(state) : "memory");
}

static inline void trace_port_irq_window(uintptr_t state)
{
    __asm__ volatile("msr primask, %0\n\tisb\n\tcpsid i" ::"r"(state) : "memory");
}

uint64_t trace_clock_extend(uint32_t low); /* trace/clock.c */

static inline uint64_t trace_port_clock(void)
{
    return trace_clock_extend(trace_port_clock_low());
}

#endif

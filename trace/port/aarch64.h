/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace port of AArch64: the virtual counter is 64 bits wide; sites are patched between nop and b.
 * System-dependent parts are in TRACE_PORT_SYSTEM_H. See trace/port.h for the contracts.
 */
#ifndef TRACE_PORT_AARCH64_H
#define TRACE_PORT_AARCH64_H

#define TRACE_PORT_CLOCK_BITS 64
#define TRACE_PORT_IRQ_BITS 0
/* Written so that a constant code takes one MOVK, any other one ORR: the CPU's bits are all
 * above. */
#define TRACE_PORT_HEADER(cpu, code) \
    ((__builtin_constant_p(code) ? (uint32_t)(cpu)->cpu_bits & 0xffff0000u \
                                 : (uint32_t)(cpu)->cpu_bits) | \
     (code))

#include TRACE_PORT_SYSTEM_H

/* Events happen where the kernel has interrupts masked anyway. */
static inline void trace_port_irq_window(uintptr_t state)
{
    (void)state;
}

static inline bool trace_port_irq_masked(void)
{
    uint64_t daif;
    __asm__ volatile("mrs %0, daif" : "=r"(daif));
    return daif >> 7 & 1;
}

/* No isb: a stamp may be a few instructions early; the log keeps stamps increasing. */
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

static inline uintptr_t trace_port_pack(uint32_t code, uintptr_t irq)
{
    return irq | (uintptr_t)code << TRACE_PORT_IRQ_BITS;
}

static inline __attribute__((always_inline)) struct trace_slot *
trace_port_put(struct trace_slot *slot, uint32_t header, uint32_t time, uint32_t d1, uint32_t d2)
{
    __asm__ volatile("stp %w1, %w2, [%0], #16\n\tstp %w3, %w4, [%0, #-8]"
                     : "+r"(slot)
                     : "r"(header), "r"(time), "r"(d1), "r"(d2)
                     : "memory");
    return slot;
}

#define TRACE_PORT_NOP "nop"
#define TRACE_PORT_WORD ".xword"
#define TRACE_PORT_WORD_ALIGN ".balign 8"
#include "trace/port/patched.h"

#endif

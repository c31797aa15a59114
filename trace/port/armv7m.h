/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace port of ARMv7-M and ARMv8-M (Cortex-M3 and up): one CPU, a 32-bit timer extended in
 * software. Sites are patched between nop.w and b.w, or loaded where the text runs from flash: a
 * makefile defines TRACE_PORT_SITES_H for that. The board defines TRACE_CLOCK_REG (address of a
 * free-running 32-bit timer) and TRACE_CLOCK_INVERT (0xffffffff if it counts down, else 0).
 * System-dependent parts are in TRACE_PORT_SYSTEM_H. See trace/port.h for the contracts.
 */
#ifndef TRACE_PORT_ARMV7M_H
#define TRACE_PORT_ARMV7M_H

#define TRACE_PORT_IRQ_BITS 16 /* bound that lets MOVT put a constant above the state */
#include "trace/port/armvm.h"

static inline bool trace_port_irq_masked(void)
{
    uint32_t primask, basepri;
    __asm__ volatile("mrs %0, primask\n\tmrs %1, basepri" : "=r"(primask), "=r"(basepri));
    return primask || basepri;
}

static inline __attribute__((always_inline)) uint32_t trace_port_clock_low(void)
{
    return *(volatile uint32_t *)TRACE_CLOCK_REG ^ (uint32_t)TRACE_CLOCK_INVERT;
}

static inline __attribute__((always_inline)) uintptr_t trace_port_pack(uint32_t code, uintptr_t irq)
{
    if (__builtin_constant_p(code)) {
        __asm__("movt %0, %1" : "+r"(irq) : "i"(code));
        return irq;
    }
    return irq | code << TRACE_PORT_IRQ_BITS;
}

static inline __attribute__((always_inline)) struct trace_slot *
trace_port_put(struct trace_slot *slot, uint32_t header, uint32_t time, uint32_t d1, uint32_t d2)
{
    __asm__ volatile("strd %1, %2, [%0], #16\n\tstrd %3, %4, [%0, #-8]"
                     : "+r"(slot)
                     : "r"(header), "r"(time), "r"(d1), "r"(d2)
                     : "memory");
    return slot;
}

#define TRACE_PORT_NOP "nop.w"
#define TRACE_PORT_WORD ".word"
#define TRACE_PORT_WORD_ALIGN ".balign 4"
#ifndef TRACE_PORT_SITES_H
#define TRACE_PORT_SITES_H "trace/port/patched.h"
#endif
#include TRACE_PORT_SITES_H

#endif

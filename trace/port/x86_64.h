/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace port of x86-64: the time-stamp counter is 64 bits wide; sites are patched between a no-op
 * and a jump of 5 bytes. System-dependent parts are in TRACE_PORT_SYSTEM_H. See trace/port.h for
 * the contracts.
 */
#ifndef TRACE_PORT_X86_64_H
#define TRACE_PORT_X86_64_H

#define TRACE_PORT_CLOCK_BITS 64
#define TRACE_PORT_IRQ_BITS 0
#define TRACE_PORT_HEADER(cpu, code) ((uint32_t)(cpu)->cpu_bits | (code))

#include TRACE_PORT_SYSTEM_H

/* Events happen where the kernel has interrupts masked anyway. */
static inline void trace_port_irq_window(uintptr_t state)
{
    (void)state;
}

static inline bool trace_port_irq_masked(void)
{
    uint64_t flags;
    __asm__ volatile("pushfq\n\tpop %0" : "=r"(flags)::"memory");
    return !(flags >> 9 & 1);
}

/* No fence: a stamp may be a few instructions early; the log keeps stamps increasing. */
static inline __attribute__((always_inline)) uint64_t trace_port_clock(void)
{
    return __builtin_ia32_rdtsc();
}

static inline __attribute__((always_inline)) uint32_t trace_port_clock_low(void)
{
    return (uint32_t)__builtin_ia32_rdtsc();
}

static inline uintptr_t trace_port_pack(uint32_t code, uintptr_t irq)
{
    return irq | (uintptr_t)code << TRACE_PORT_IRQ_BITS;
}

static inline __attribute__((always_inline)) struct trace_slot *
trace_port_put(struct trace_slot *slot, uint32_t header, uint32_t time, uint32_t d1, uint32_t d2)
{
    *slot = (struct trace_slot){header, time, d1, d2};
    return slot + 1;
}

#define TRACE_PORT_NOP ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#define TRACE_PORT_WORD ".quad"
#define TRACE_PORT_WORD_ALIGN ".balign 8"
#include "trace/port/patched.h"

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace port of ARMv6-M (Cortex-M0): one CPU, a 32-bit clock extended in software, sites that are
 * loaded. Must be built with TRACE_ATOMIC_OPS_H trace/port/atomic_armv6m.h. The clock depends on
 * the chip: trace_port_clock_low() is in TRACE_PORT_SYSTEM_H. See trace/port.h for the contracts.
 */
#ifndef TRACE_PORT_ARMV6M_H
#define TRACE_PORT_ARMV6M_H

#define TRACE_PORT_IRQ_BITS 1 /* PRIMASK */
#include "trace/port/armvm.h"

static inline bool trace_port_irq_masked(void)
{
    uint32_t primask;
    __asm__ volatile("mrs %0, primask" : "=r"(primask));
    return primask & 1;
}

static inline __attribute__((always_inline)) uintptr_t trace_port_pack(uint32_t code, uintptr_t irq)
{
    return irq | (uintptr_t)code << TRACE_PORT_IRQ_BITS;
}

static inline __attribute__((always_inline)) struct trace_slot *
trace_port_put(struct trace_slot *slot, uint32_t header, uint32_t time, uint32_t d1, uint32_t d2)
{
    slot->header = header;
    slot->time = time;
    slot->d1 = d1;
    slot->d2 = d2;
    return slot + 1;
}

#include "trace/port/loaded.h"

#endif

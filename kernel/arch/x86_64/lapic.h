/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The local APIC's registers, in memory (xAPIC) or as model-specific registers (x2APIC, where
 * identifiers have 32 bits). Interrupts of this CPU masked, or in an NMI. Tested by
 * test/kernel/arch/x86_64/lapic_test.c and, on a machine with an x2APIC, test/board/bochs.py.
 */
#ifndef KERNEL_ARCH_X86_64_LAPIC_H
#define KERNEL_ARCH_X86_64_LAPIC_H

#include "kernel/arch/x86_64/port.h"

#define LAPIC 0xfee00000ul /* address of its registers */
#define LAPIC_X2_MSR 0x800u

enum {
    LAPIC_ID = 0x20,
    LAPIC_TPR = 0x80,
    LAPIC_PPR = 0xa0, /* priority of the interrupts in service */
    LAPIC_EOI = 0xb0,
    LAPIC_SPURIOUS = 0xf0,
    LAPIC_ICR = 0x300,
    LAPIC_ICR_TO = 0x310, /* xAPIC only */
    LAPIC_LVT_TIMER = 0x320,
    LAPIC_LVT_LINT0 = 0x350,
    LAPIC_LVT_LINT1 = 0x360,
    LAPIC_LVT_ERROR = 0x370,
    LAPIC_TIMER_START = 0x380,
    LAPIC_TIMER_NOW = 0x390,
    LAPIC_TIMER_DIVIDE = 0x3e0
};

#define ICR_ASSERT 0x4000u
#define ICR_NMI 0x400u
#define ICR_INIT 0x500u
#define ICR_START 0x600u
#define ICR_SELF 0x40000u

extern bool x86_lapic_x2; /* [I] from x86_board_irq_init() on */

static inline volatile uint32_t *lapic_register(unsigned offset)
{
    return (volatile uint32_t *)(x86_device(LAPIC) + offset);
}

static inline uint32_t lapic_read(unsigned offset)
{
    return x86_lapic_x2 ? (uint32_t)x86_rdmsr(LAPIC_X2_MSR + offset / 16) : *lapic_register(offset);
}

static inline void lapic_write(unsigned offset, uint32_t value)
{
    if (x86_lapic_x2) {
        x86_wrmsr(LAPIC_X2_MSR + offset / 16, value);
    } else {
        *lapic_register(offset) = value;
    }
}

/* Chooses the mode in which the firmware has left the local APIC. CPU 0, once, with the final
 * map. */
void x86_lapic_begin(void);
/* Enables this CPU's local APIC in the chosen mode. */
void x86_lapic_enable(void);
/* Sends `what`, a vector or ICR_*, to the CPU with this identifier. */
void x86_lapic_send(uint32_t id, uint32_t command);
/* Raises a vector at this CPU. */
void x86_lapic_send_self(unsigned vector);
/* Save and restore the state that an NMI's handler must not change; it sends only between these two
 * calls. */
uint32_t x86_lapic_save(void);
void x86_lapic_restore(uint32_t state);

#endif

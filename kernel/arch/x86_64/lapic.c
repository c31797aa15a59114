/* SPDX-License-Identifier: BSD-2-Clause */
/* See lapic.h. Intel's manual, volume 3, chapter "Advanced Programmable Interrupt Controller". */
#include "kernel/arch/x86_64/lapic.h"

#include "kernel/arch/cpu.h"
#include "kernel/arch/x86_64/board.h"

#define MSR_APIC_BASE 0x1b
#define BASE_FLAGS 0xffful
#define BASE_X2 0x400ul
#define BASE_ENABLE 0x800ul
#define CPUID_1_ECX_X2 0x200000u
#define ICR_BUSY 0x1000u

bool x86_lapic_x2;

/* ---- its mode ---------------------------------------------------------------------- */

/* Firmware that has enabled x2APIC expects it to stay: returning to xAPIC would require disabling
 * the APIC. */
void x86_lapic_begin(void)
{
    x86_lapic_x2 = x86_rdmsr(MSR_APIC_BASE) & BASE_X2;
}

bool x86_apic_wide(void)
{
    uint32_t features[4];

    if (x86_lapic_x2) {
        return true;
    }
    x86_cpuid(1, features);
    if (!(features[2] & CPUID_1_ECX_X2)) {
        return false;
    }
    x86_lapic_x2 = true;
    x86_lapic_enable();
    return true;
}

/* An APIC that is off can't become an x2APIC in one step. */
void x86_lapic_enable(void)
{
    const uint64_t flags = x86_rdmsr(MSR_APIC_BASE) & BASE_FLAGS;

    x86_wrmsr(MSR_APIC_BASE, flags | LAPIC | BASE_ENABLE);
    if (x86_lapic_x2 && !(flags & BASE_X2)) {
        x86_wrmsr(MSR_APIC_BASE, flags | LAPIC | BASE_ENABLE | BASE_X2);
    }
}

uint32_t x86_apic_id(void)
{
    const uint32_t id = lapic_read(LAPIC_ID);

    return x86_lapic_x2 ? id : id >> 24;
}

/* ---- sending ----------------------------------------------------------------------- */

/* x2APIC: one register of 64 bits, which is never busy. Its write does not wait for earlier stores,
 * which the other CPU must see. */
static void x2_send(uint32_t id, uint32_t command)
{
    __asm__ volatile("mfence\n\tlfence" ::: "memory");
    x86_wrmsr(LAPIC_X2_MSR + LAPIC_ICR / 16, (uint64_t)id << 32 | command);
}

/* xAPIC sends one interrupt at a time, and has soon sent the previous one. */
static void wait_until_sent(void)
{
    while (*lapic_register(LAPIC_ICR) & ICR_BUSY) {
        arch_spin_hint();
    }
}

void x86_lapic_send(uint32_t id, uint32_t command)
{
    if (x86_lapic_x2) {
        x2_send(id, command | ICR_ASSERT);
        return;
    }
    wait_until_sent();
    *lapic_register(LAPIC_ICR_TO) = id << 24;
    *lapic_register(LAPIC_ICR) = command | ICR_ASSERT;
}

void x86_lapic_send_self(unsigned vector)
{
    if (x86_lapic_x2) {
        x2_send(0, vector | ICR_ASSERT | ICR_SELF);
        return;
    }
    wait_until_sent();
    *lapic_register(LAPIC_ICR) = vector | ICR_ASSERT | ICR_SELF;
}

/* The NMI may have interrupted code between xAPIC's two writes. */
uint32_t x86_lapic_save(void)
{
    return x86_lapic_x2 ? 0 : *lapic_register(LAPIC_ICR_TO);
}

/* Code that was interrupted after its wait may send at once. */
void x86_lapic_restore(uint32_t state)
{
    if (!x86_lapic_x2) {
        wait_until_sent();
        *lapic_register(LAPIC_ICR_TO) = state;
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: trace sites in text in RAM: replaces a 32-bit NOP by a branch and vice versa. The
 * makefile of a board whose text is flash chooses another file of this folder. Kernel lock held or
 * boot; the caller ends a batch with arch_text_sync(). Tested by every boot that traces.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/panic.h"
#include "kernel/arch/probe.h"

#define NOP_W 0x8000f3afu /* as read from memory: f3af 8000 */

static int32_t ram_offset(uintptr_t site, uintptr_t target)
{
    return (int32_t)((target & ~1u) - (site + 4));
}

static bool ram_reaches(uintptr_t site, uintptr_t target)
{
    int32_t offset = ram_offset(site, target);

    return offset >= -(1 << 24) && offset < 1 << 24;
}

/* Encodes B.W (T4) from site to target, which is within its reach. */
static uint32_t ram_branch(uintptr_t site, uintptr_t target)
{
    int32_t offset = ram_offset(site, target);
    uint32_t s = (uint32_t)offset >> 31;
    uint32_t j1 = (~((uint32_t)offset >> 23) ^ s) & 1;
    uint32_t j2 = (~((uint32_t)offset >> 22) ^ s) & 1;
    uint32_t first = 0xf000 | s << 10 | (((uint32_t)offset >> 12) & 0x3ff);
    uint32_t second = 0x9000 | j1 << 13 | j2 << 11 | (((uint32_t)offset >> 1) & 0x7ff);
    return second << 16 | first;
}

/* The two halves may be in two words: no interrupt handler may execute a half-written branch. */
static void ram_write(volatile uint16_t *half, uint32_t insn)
{
    uintptr_t state = arch_irq_save();
    half[0] = (uint16_t)insn;
    half[1] = (uint16_t)(insn >> 16);
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    arch_irq_restore(state);
}

void arch_site_patch(uintptr_t site, uintptr_t target, bool on)
{
    site &= ~(uintptr_t)1;
    if (!ram_reaches(site, target)) {
        kernel_panic("trace site %p: %p is out of reach", (void *)site, (void *)target);
    }
    ram_write((volatile uint16_t *)site, on ? ram_branch(site, target) : NOP_W);
}

enum arch_user_site arch_user_site(const void *at, uintptr_t site, uintptr_t target)
{
    const volatile uint16_t *half = at;
    const uint32_t insn = half[0] | (uint32_t)half[1] << 16;

    return site & 1 || !ram_reaches(site, target) ? ARCH_USER_SITE_OTHER
           : insn == NOP_W                        ? ARCH_USER_SITE_OFF
           : insn == ram_branch(site, target)     ? ARCH_USER_SITE_ON
                                                  : ARCH_USER_SITE_OTHER;
}

/* The MPU lets the kernel write to a program's text. */
void arch_user_site_write(void *at, uintptr_t site, uintptr_t target, bool on)
{
    ram_write(at, on ? ram_branch(site, target) : NOP_W);
}

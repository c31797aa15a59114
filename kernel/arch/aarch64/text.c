/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes written text visible: trace sites and loaded programs. Lock held, or before other CPUs
 * start.
 *
 * A site is a nop or a branch. The architecture lets other CPUs execute such an instruction while
 * it is replaced: they execute either the old or the new one. They execute the new one after their
 * next context synchronisation: every exception entry and return, each iteration of a lock spin,
 * each wake-up from idle. A cross-call makes each CPU do one of these: trace_port_sites_sync().
 * Tested by test/board, suites sites-multi and fbt-multi.
 */
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/panic.h"
#include "kernel/arch/probe.h"

extern char __kernel_start[], __text_end[]; /* ldscripts/kernel.ld */

#define INSN_NOP 0xd503201fu
#define INSN_B 0x14000000u
#define BRANCH_REACH (1l << 27)

static size_t line_size(unsigned shift)
{
    return 4ul << ((a64_read_sysreg(ctr_el0) >> shift) & 15);
}

static bool is_kernel_text(uintptr_t from, uintptr_t to)
{
    return from >= (uintptr_t)__kernel_start && from <= to && to <= (uintptr_t)__text_end;
}

/* A program runs at addresses other than `start`. If the instruction cache is indexed by virtual
 * address, all of it is invalidated. */
void arch_text_sync(const void *start, size_t len)
{
    uintptr_t from = (uintptr_t)start, to = from + len;
    size_t dline = line_size(16), iline = line_size(0);

    for (uintptr_t p = from & ~(dline - 1); p < to; p += dline) {
        __asm__ volatile("dc cvau, %0" ::"r"(p) : "memory");
    }
    a64_dsb(ish);
    if (is_kernel_text(from, to)) {
        for (uintptr_t p = from & ~(iline - 1); p < to; p += iline) {
            __asm__ volatile("ic ivau, %0" ::"r"(p) : "memory");
        }
    } else {
        __asm__ volatile("ic ialluis" ::: "memory");
    }
    a64_dsb(ish);
    a64_isb();
}

void arch_cache_clean(const void *start, size_t len)
{
    uintptr_t from = (uintptr_t)start, to = from + len;
    size_t line = line_size(16);

    for (uintptr_t p = from & ~(line - 1); p < to; p += line) {
        __asm__ volatile("dc cvac, %0" ::"r"(p) : "memory");
    }
    a64_dsb(sy);
}

void arch_text_write(uintptr_t at, const void *from, size_t bytes)
{
    kernel_assert(kernel_holds_lock());
    if (!is_kernel_text(at, at + bytes)) {
        kernel_panic("%p is not text", (void *)at);
    }
    for (size_t i = 0; i < bytes / 4; i++) {
        ((volatile uint32_t *)(at + KERNEL_TEXT_ALIAS))[i] = ((const uint32_t *)from)[i];
    }
    arch_text_sync((const void *)at, bytes);
}

static bool a64_reaches(uintptr_t site, long distance)
{
    return !(site & 3) && !(distance & 3) && distance < BRANCH_REACH && distance >= -BRANCH_REACH;
}

static uint32_t a64_branch(long distance)
{
    return INSN_B | (((uint32_t)(distance >> 2)) & 0x03ffffff);
}

void arch_site_patch(uintptr_t site, uintptr_t target, bool on)
{
    kernel_assert(kernel_holds_lock());
    long distance = (long)(target - site);

    if (!is_kernel_text(site, site + sizeof(uint32_t)) || !a64_reaches(site, distance)) {
        kernel_panic("trace site %p can't be patched", (void *)site);
    }
    uint32_t insn = on ? a64_branch(distance) : INSN_NOP;
    *(volatile uint32_t *)(site + KERNEL_TEXT_ALIAS) = insn;
    arch_text_sync((const void *)site, sizeof(insn));
}

enum arch_user_site arch_user_site(const void *at, uintptr_t site, uintptr_t target)
{
    const long distance = (long)(target - site);
    const uint32_t insn = *(const volatile uint32_t *)at;

    return !a64_reaches(site, distance)   ? ARCH_USER_SITE_OTHER
           : insn == INSN_NOP             ? ARCH_USER_SITE_OFF
           : insn == a64_branch(distance) ? ARCH_USER_SITE_ON
                                          : ARCH_USER_SITE_OTHER;
}

void arch_user_site_write(void *at, uintptr_t site, uintptr_t target, bool on)
{
    kernel_assert(kernel_holds_lock());
    *(volatile uint32_t *)at = on ? a64_branch((long)(target - site)) : INSN_NOP;
    __asm__ volatile("dc cvau, %0" ::"r"(at) : "memory");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TLBs: which translations are dropped from which TLB, and when. Kernel lock held: a CPU's
 * space changes only with the lock.
 *
 * Without PCIDs a TLB holds only translations of its CPU's present space, because a load of CR3
 * drops the others, and of the kernel's, which never change. So the CPUs that have a space are
 * called when it loses a mapping, and that is all.
 *
 * With PCIDs a TLB keeps translations of spaces that its CPU has left. Each process has a PCID of
 * its own; the kernel's tables, which map only global pages, have 0. A CPU that doesn't have the
 * space when a mapping is lost isn't called: it is marked (x86_cpus[].stale), and drops all of that
 * PCID when it next loads it (x86_space_load()). An ended process leaves such a mark for every CPU,
 * so its PCID can be reused at once. Tested by test/kernel/arch/x86_64/tlb_test.c against a model
 * of the TLBs; test/board/bochs.py boots with PCIDs, but its TLBs keep nothing.
 */
#include "kernel/arch/assert.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/x86_64/port.h"

#define TLB_PAGES_MAX 64 /* more pages than this: drop all */
#define BITS 64

_Static_assert(X86_PCIDS % BITS == 0 && X86_PCIDS <= X86_PCID_MASK + 1, "CR3");
_Static_assert(CONFIG_PROCESSES < X86_PCIDS, "each process has one, and 0 is the kernel's");

static bool pcids;                       /* [I] the CPUs have them */
static uint64_t taken[X86_PCIDS / BITS]; /* [k] one bit for each PCID */

void x86_pcid_begin(bool there)
{
    pcids = there;
    taken[0] |= 1;
}

bool x86_pcid_used(void)
{
    return pcids;
}

uint64_t x86_pcid_take(void)
{
    kernel_assert(kernel_holds_lock());
    for (unsigned i = 0; pcids && i < X86_PCIDS / BITS; i++) {
        if (~taken[i]) {
            const unsigned bit = (unsigned)__builtin_ctzl(~taken[i]);
            taken[i] |= 1ul << bit;
            return (i * BITS + bit) | X86_CR3_KEEP;
        }
    }
    return 0;
}

static void x86_pcid_stale(uint64_t space, unsigned cpu)
{
    if (space & X86_CR3_KEEP) {
        x86_cpus[cpu].stale[space & X86_PCID_MASK] = 1;
    }
}

void x86_pcid_give(uint64_t space)
{
    const uint64_t pcid = space & X86_PCID_MASK;

    kernel_assert(kernel_holds_lock());
    if (space & X86_CR3_KEEP) {
        taken[pcid / BITS] &= ~(1ul << pcid % BITS);
        for (unsigned i = 0; i < CONFIG_CPUS; i++) {
            x86_pcid_stale(space, i);
        }
    }
}

/* Drops translations on this CPU, which has the space. */
static void x86_tlb_drop_here(uint64_t space, uintptr_t va, uintptr_t end)
{
    kernel_assert(x86_space() == space);
    if (end - va > TLB_PAGES_MAX * PAGE_SIZE) {
        __asm__ volatile("mov %0, %%cr3" ::"r"(space & ~X86_CR3_KEEP) : "memory");
        return;
    }
    for (; va < end; va += PAGE_SIZE) {
        __asm__ volatile("invlpg (%0)" ::"r"(va) : "memory");
    }
}

void x86_tlb_drop(uint64_t space, uintptr_t va, uintptr_t end)
{
    uint32_t others = 0;

    for (uint32_t rest = x86_cpus_started(); rest; rest &= rest - 1) {
        const unsigned n = (unsigned)__builtin_ctz(rest);
        if (x86_cpus[n].space != space) {
            x86_pcid_stale(space, n);
        } else if (&x86_cpus[n] == x86_this_cpu()) {
            x86_tlb_drop_here(space, va, end);
        } else {
            others |= 1u << n;
        }
    }
    if (others) {
        x86_call(others, x86_tlb_drop_here, space, va, end);
    }
}

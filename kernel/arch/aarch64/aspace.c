/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address spaces of processes: an ASID for each, for the space's lifetime, and the TLB; the tables
 * are in kernel/arch/mmu/pages.c. Kernel lock held. Tested by test/board (isolation).
 */
#include "abi/errno.h"
#include "abi/sys/kymo.h"
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/mmu/mmu.h"

#define ASIDS_8 256u
/* One ASID for each process; 0 is the empty space's. A board whose CPU has 8-bit ASIDs has fewer,
 * and no more processes. */
#define ASID_WORDS (CONFIG_PROCESSES / 64u + 1)

_Static_assert(CONFIG_PROCESSES < 65536, "an ASID for each process");

static uint64_t asids_used[ASID_WORDS] = {1}; /* [k] */

static unsigned asid_alloc(void)
{
    unsigned end = a64_asids_of_16_bits() ? ASID_WORDS * 64 : ASIDS_8;

    for (unsigned word = 0; word < ASID_WORDS && word * 64 < end; word++) {
        if (~asids_used[word]) {
            unsigned bit = (unsigned)__builtin_ctzl(~asids_used[word]);
            asids_used[word] |= 1ul << bit;
            return word * 64 + bit;
        }
    }
    return 0;
}

int arch_aspace_create(struct arch_aspace *as)
{
    kernel_assert(kernel_holds_lock());
    unsigned asid = asid_alloc();
    paddr_t l1;

    as->ttbr0 = 0;
    if (asid == 0) {
        return -EAGAIN;
    }
    l1 = phys_alloc(PAGE_SIZE, PAGE_SIZE);
    if (l1 == 0) {
        asids_used[asid / 64] &= ~(1ul << asid % 64);
        return -ENOMEM;
    }
    as->ttbr0 = (uint64_t)asid << ASID_SHIFT | l1;
    as->search_from = USER_HIGH;
    return 0;
}

/* Only the caller's CPU may still use this space. Any other has left it by arch_switch() before it
 * released the lock, also when its thread of this process ended. */
void arch_aspace_destroy(struct arch_aspace *as)
{
    unsigned asid = (unsigned)(as->ttbr0 >> ASID_SHIFT);

    if (as->ttbr0 == 0) {
        return;
    }
    if (a64_read_sysreg(ttbr0_el1) == as->ttbr0) {
        a64_write_sysreg(ttbr0_el1, a64_empty_ttbr0);
        a64_isb();
    }
    kernel_assert(kernel_holds_lock() && (asids_used[asid / 64] >> asid % 64 & 1));
    pages_tlb_drop_space(as);
    /* the other tables were freed with the last mapping */
    phys_free(as->ttbr0 & PTE_ADDRESS, PAGE_SIZE);
    asids_used[asid / 64] &= ~(1ul << asid % 64);
    as->ttbr0 = 0;
}

/* ---- the TLB: kernel/arch/mmu/mmu.h ------------------------------------------------ */

#define TLB_PAGES_MAX 64 /* more pages than this: invalidate the whole ASID */

static uint64_t asid_of(const struct arch_aspace *as)
{
    return as->ttbr0 >> ASID_SHIFT;
}

void pages_tlb_drop_space(const struct arch_aspace *as)
{
    a64_dsb(ishst);
    __asm__ volatile("tlbi aside1is, %0" ::"r"(as->ttbr0 & ~0xfffffffffffful) : "memory");
    a64_dsb(ish);
    a64_isb();
}

void pages_tlb_drop_range(const struct arch_aspace *as, uintptr_t va, size_t len)
{
    if (len > TLB_PAGES_MAX * PAGE_SIZE) {
        pages_tlb_drop_space(as);
        return;
    }
    a64_dsb(ishst);
    for (uintptr_t end = va + len; va < end; va += PAGE_SIZE) {
        uint64_t operand = asid_of(as) << ASID_SHIFT | va >> 12;
        __asm__ volatile("tlbi vae1is, %0" ::"r"(operand) : "memory");
    }
    a64_dsb(ish);
    a64_isb();
}

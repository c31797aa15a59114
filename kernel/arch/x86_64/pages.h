/* SPDX-License-Identifier: BSD-2-Clause */
/* x86-64: the entries of page tables, for kernel/arch/mmu/mmu.h, which includes this. */
#ifndef KERNEL_ARCH_X86_64_PAGES_H
#define KERNEL_ARCH_X86_64_PAGES_H

#include "abi/sys/kymo.h"
#include "kernel/arch/aspace.h"

#define PTE_VALID 0x1ul
#define PTE_WRITE 0x2ul
#define PTE_USER 0x4ul
#define PTE_DEVICE 0x18ul /* write-through and cache disabled: uncached */
#define PTE_USED 0x60ul   /* accessed and dirty, so that the CPU need not write them */
#define PTE_BLOCK 0x80ul
#define PTE_GLOBAL 0x100ul
#define PTE_NX (1ul << 63)
#define PTE_ADDRESS 0x000ffffffffff000ul
#define TOP_INDEX(va) (((va) >> 39) & 511)

#define PTE_TO_TABLE (PTE_VALID | PTE_WRITE | PTE_USER | PTE_USED)
#define PTE_IGNORED_SHIFT 52

/* The space's top table and its only table of the next level are adjacent (aspace.c). */
static inline uint64_t *pages_level1(const struct arch_aspace *as)
{
    return arch_phys_to_virt((as->cr3 & PTE_ADDRESS) + PAGE_SIZE);
}

static inline uint64_t pages_attributes(uint32_t flags)
{
    uint64_t pte = PTE_VALID | PTE_USED;

    if (flags & KYMO_MAP_DEVICE) {
        pte |= PTE_DEVICE;
    }
    if (flags & KYMO_PROT_WRITE) {
        pte |= PTE_WRITE;
    }
    if (!(flags & KYMO_PROT_EXEC) || (flags & KYMO_MAP_DEVICE)) {
        pte |= PTE_NX;
    }
    if (flags & (KYMO_PROT_READ | KYMO_PROT_WRITE | KYMO_PROT_EXEC)) {
        pte |= PTE_USER;
    }
    return pte;
}

static inline uint64_t pages_as_block(uint64_t page)
{
    return page | PTE_BLOCK;
}

/* Nothing has to be done: stores are seen in their order. */
static inline void pages_zeroed(void)
{
    __asm__ volatile("" ::: "memory");
}

static inline void pages_set_done(void)
{
    __asm__ volatile("" ::: "memory");
}

/* Uses the tables that are loaded in this CPU. */
extern uintptr_t x86_linear_end; /* [I] kernel/arch/x86_64/mmu.c */

static inline uint64_t pages_translate(uintptr_t va, bool user, bool write)
{
    const uint64_t need = PTE_VALID | (user ? PTE_USER : 0) | (write ? PTE_WRITE : 0);
    uint64_t table = x86_cr3() & PTE_ADDRESS;

    if ((uintptr_t)((intptr_t)(va << 16) >> 16) != va) {
        return 0;
    }
    for (unsigned shift = 39; shift >= 12; shift -= 9) {
        uint64_t entry = ((const uint64_t *)arch_phys_to_virt(table))[va >> shift & 511];
        if ((entry & need) != need) {
            return 0;
        }
        if (shift == 12 || (entry & PTE_BLOCK)) {
            uint64_t within = (1ul << shift) - 1;
            uint64_t pa = (entry & PTE_ADDRESS & ~within) | (va & within);
            /* The firmware's tables are mapped, too, but are not in the kernel's map of RAM. */
            return entry & PTE_DEVICE || pa >= x86_linear_end ? 0 : pa;
        }
        table = entry & PTE_ADDRESS;
    }
    return 0;
}

static inline bool pages_loaded(const struct arch_context *ctx)
{
    return (ctx->cr3 & ~X86_CR3_KEEP) == x86_cr3();
}

#endif

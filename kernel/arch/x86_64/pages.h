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

/* The space's top table and its only table of the next level lie side by side (aspace.c). */
static inline uint64_t *pages_level1(const struct arch_aspace *as)
{
    return arch_phys_to_virt(as->cr3 + PAGE_SIZE);
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

/* Stores are seen in their order. */
static inline void pages_zeroed(void)
{
    __asm__ volatile("" ::: "memory");
}

static inline void pages_set_done(void)
{
    __asm__ volatile("" ::: "memory");
}

#endif

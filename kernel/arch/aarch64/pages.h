/* SPDX-License-Identifier: BSD-2-Clause */
/* AArch64: the entries of page tables, for kernel/arch/mmu/mmu.h, which includes this. */
#ifndef KERNEL_ARCH_AARCH64_PAGES_H
#define KERNEL_ARCH_AARCH64_PAGES_H

#include "abi/sys/kymo.h"
#include "kernel/arch/aspace.h"

/* Page and block attributes */
#define PTE_VALID 1ul
#define PTE_TABLE 2ul /* level 1, 2: a table; level 3: a page */
#define PTE_ATTR(index) ((uint64_t)(index) << 2)
#define PTE_USER (1ul << 6)
#define PTE_READONLY (1ul << 7)
#define PTE_INNER (3ul << 8)
#define PTE_AF (1ul << 10)
#define PTE_NOT_GLOBAL (1ul << 11)
#define PTE_PXN (1ul << 53)
#define PTE_UXN (1ul << 54)
#define PTE_ADDRESS 0x0000fffffffff000ul
#define ASID_SHIFT 48

#define PTE_TO_TABLE (PTE_TABLE | PTE_VALID)
#define PTE_IGNORED_SHIFT 2

static inline uint64_t *pages_level1(const struct arch_aspace *as)
{
    return arch_phys_to_virt(as->ttbr0 & PTE_ADDRESS);
}

static inline uint64_t pages_attributes(uint32_t flags)
{
    uint64_t pte = PTE_VALID | PTE_TABLE | PTE_AF | PTE_NOT_GLOBAL | PTE_PXN;

    pte |= flags & KYMO_MAP_DEVICE ? PTE_ATTR(MAIR_DEVICE) : PTE_ATTR(MAIR_NORMAL) | PTE_INNER;
    if (!(flags & KYMO_PROT_WRITE)) {
        pte |= PTE_READONLY;
    }
    if (!(flags & KYMO_PROT_EXEC) || (flags & KYMO_MAP_DEVICE)) {
        pte |= PTE_UXN;
    }
    if (flags & (KYMO_PROT_READ | KYMO_PROT_WRITE | KYMO_PROT_EXEC)) {
        pte |= PTE_USER;
    }
    return pte;
}

static inline uint64_t pages_as_block(uint64_t page)
{
    return page & ~PTE_TABLE;
}

static inline void pages_zeroed(void)
{
    a64_dmb(ishst);
}

static inline void pages_set_done(void)
{
    a64_dsb(ishst);
}

#define PAR_FAULT 1ul
#define PAR_ATTR(par) ((par) >> 56)
#define ATTR_NORMAL 0xf0ul /* device memory has none of these bits */

static inline uint64_t pages_translate(uintptr_t va, bool user, bool write)
{
    if (user && write) {
        __asm__ volatile("at s1e0w, %0" ::"r"(va) : "memory");
    } else if (user) {
        __asm__ volatile("at s1e0r, %0" ::"r"(va) : "memory");
    } else {
        __asm__ volatile("at s1e1r, %0" ::"r"(va) : "memory");
    }
    a64_isb();
    uint64_t par = a64_read_sysreg(par_el1);
    if ((par & PAR_FAULT) || !(PAR_ATTR(par) & ATTR_NORMAL)) {
        return 0;
    }
    return (par & PTE_ADDRESS) | (va & (PAGE_SIZE - 1));
}

static inline bool pages_loaded(const struct arch_context *ctx)
{
    return ctx->ttbr0 == a64_read_sysreg(ttbr0_el1);
}

#endif

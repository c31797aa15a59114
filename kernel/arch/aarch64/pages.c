/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page tables of processes: three levels, 4 KB pages, for the first 4 GB; allocation of address
 * ranges in them, and TLB maintenance. Kernel lock held. Called by aspace.c only, which has checked
 * all arguments. Only an entry that was clear is ever set, so only clearing needs TLB invalidation.
 * Proved by test/boot.
 */
#include "abi/errno.h"
#include "abi/sys/kymo.h"
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/aspace.h"

#define GUARD PAGE_SIZE /* unmapped, on both sides of a range that the kernel chose */
#define L1_ENTRIES 4
#define TABLE_ENTRIES 512
#define TLB_PAGES_MAX 64 /* more pages than this: invalidate the whole ASID */

static uint64_t asid_of(const struct arch_aspace *as)
{
    return as->ttbr0 >> ASID_SHIFT;
}

void a64_tlb_drop_space(const struct arch_aspace *as)
{
    a64_dsb(ishst);
    __asm__ volatile("tlbi aside1is, %0" ::"r"(as->ttbr0 & ~0xfffffffffffful) : "memory");
    a64_dsb(ish);
    a64_isb();
}

void a64_tlb_drop_range(const struct arch_aspace *as, uintptr_t va, size_t len)
{
    if (len > TLB_PAGES_MAX * PAGE_SIZE) {
        a64_tlb_drop_space(as);
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

static uint64_t *pages_level1(const struct arch_aspace *as)
{
    return arch_phys_to_virt(as->ttbr0 & PTE_ADDRESS);
}

/* Returns the table below an entry; NULL if there is none. */
static uint64_t *pages_table_below(uint64_t entry)
{
    return entry ? arch_phys_to_virt(entry & PTE_ADDRESS) : NULL;
}

/* Returns the table below an entry, allocated if there is none; NULL: no memory. A table is zeroed
 * before it becomes visible. */
static uint64_t *table_need(uint64_t *entry)
{
    if (*entry == 0) {
        paddr_t pa = phys_alloc(PAGE_SIZE, PAGE_SIZE);

        if (pa == 0) {
            return NULL;
        }
        a64_dmb(ishst);
        *(volatile uint64_t *)entry = pa | PTE_TABLE | PTE_VALID;
    }
    return pages_table_below(*entry);
}

static uint64_t *page_entry(const struct arch_aspace *as, uintptr_t va, bool make)
{
    uint64_t *entry = &pages_level1(as)[L1_INDEX(va)];
    uint64_t *l2 = make ? table_need(entry) : pages_table_below(*entry);
    uint64_t *l3;

    if (!l2) {
        return NULL;
    }
    entry = &l2[L2_INDEX(va)];
    l3 = make ? table_need(entry) : pages_table_below(*entry);
    return l3 ? &l3[L3_INDEX(va)] : NULL;
}

static bool page_used(const struct arch_aspace *as, uintptr_t va)
{
    const uint64_t *entry = page_entry(as, va, false);
    return entry && *entry;
}

/* Returns true if there is no level 3 table for the 2 MB at va. */
static bool block_empty(const struct arch_aspace *as, uintptr_t va)
{
    const uint64_t *l2 = pages_table_below(pages_level1(as)[L1_INDEX(va)]);
    return !l2 || l2[L2_INDEX(va)] == 0;
}

bool a64_range_free(const struct arch_aspace *as, uintptr_t va, size_t len)
{
    if (va < USER_LOW || va >= USER_HIGH || len > USER_HIGH - va || (va & (PAGE_SIZE - 1))) {
        return false;
    }
    for (uintptr_t end = va + len; va < end; va += PAGE_SIZE) {
        if (page_used(as, va)) {
            return false;
        }
    }
    return true;
}

/* Returns the highest free range with a guard on both sides; 0: none. */
uintptr_t a64_range_find(const struct arch_aspace *as, size_t len)
{
    uintptr_t va = USER_HIGH, top = USER_HIGH; /* [va, top) is free */

    while (va > USER_LOW) {
        if ((va & (BLOCK_SIZE - 1)) == 0 && va - USER_LOW >= BLOCK_SIZE &&
            block_empty(as, va - BLOCK_SIZE)) {
            va -= BLOCK_SIZE;
        } else {
            va -= PAGE_SIZE;
            top = page_used(as, va) ? va : top;
        }
        if (top - va >= len + 2 * GUARD) {
            return top - GUARD - len;
        }
    }
    return 0;
}

static uint64_t pages_attributes(uint32_t flags)
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

void a64_tables_free(const struct arch_aspace *as)
{
    uint64_t *l1 = pages_level1(as);

    for (unsigned i = 0; i < L1_ENTRIES; i++) {
        uint64_t *l2 = pages_table_below(l1[i]);

        for (unsigned j = 0; l2 && j < TABLE_ENTRIES; j++) {
            if (l2[j]) {
                phys_free(l2[j] & PTE_ADDRESS, PAGE_SIZE);
            }
        }
        if (l2) {
            phys_free(l1[i] & PTE_ADDRESS, PAGE_SIZE);
        }
    }
    phys_free(arch_virt_to_phys(l1), PAGE_SIZE);
}

static void pages_clear(const struct arch_aspace *as, uintptr_t va, uintptr_t end)
{
    for (; va < end; va += PAGE_SIZE) {
        uint64_t *entry = page_entry(as, va, false);

        if (entry) {
            *(volatile uint64_t *)entry = 0;
        }
    }
}

void a64_pages_drop(const struct arch_aspace *as, uintptr_t va, size_t len)
{
    pages_clear(as, va, va + len);
    a64_tlb_drop_range(as, va, len);
}

int a64_pages_set(const struct arch_aspace *as, const struct mapping *m)
{
    uint64_t pte = m->phys | pages_attributes(m->flags);

    for (uintptr_t va = m->vaddr; va < m->vaddr + m->len; va += PAGE_SIZE, pte += PAGE_SIZE) {
        uint64_t *entry = page_entry(as, va, true);

        if (!entry) {
            a64_pages_drop(as, m->vaddr, va - m->vaddr);
            return -ENOMEM;
        }
        *(volatile uint64_t *)entry = pte;
    }
    a64_dsb(ishst);
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address spaces of processes: page tables (pages.c), and one ASID each for the space's lifetime.
 * Kernel lock held. Tables are allocated on demand and freed with their last entry. Refuses
 * addresses outside [USER_LOW, USER_HIGH), ranges that are already mapped, and memory both writable
 * and executable. Proved by test/boot (isolation).
 */
#include "abi/errno.h"
#include "abi/sys/kymo.h"
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/aspace.h"

#define ASIDS_8 256u
/* One for each process; 0 is the empty space's. A CPU with ASIDs of 8 bits has fewer, and no more
 * processes. */
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

int arch_map_shape(size_t len, unsigned flags, size_t *rounded, size_t *align)
{
    (void)flags;
    if (len == 0 || len > USER_HIGH - USER_LOW - 2 * PAGE_SIZE) {
        return -ENOMEM;
    }
    *rounded = (len + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
    *align = PAGE_SIZE;
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

/* The caller's CPU may still run in this space; the other CPUs left it when they left its
 * threads. */
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
    a64_tlb_drop_space(as);
    phys_free(as->ttbr0 & PTE_ADDRESS, PAGE_SIZE); /* the other tables went with the last mapping */
    asids_used[asid / 64] &= ~(1ul << asid % 64);
    as->ttbr0 = 0;
}

/* The search begins where the last one ended, or at what was unmapped above: so programs that map
 * much and unmap little don't pass all they have each time. */
static uintptr_t aspace_find(struct arch_aspace *as, const struct mapping *m,
                             const struct mapping_list *others)
{
    uintptr_t va = a64_range_find(others, as->search_from, m->len, m->phys);

    if (va == 0 && as->search_from != USER_HIGH) {
        va = a64_range_find(others, USER_HIGH, m->len, m->phys);
    }
    return va;
}

int arch_aspace_map(struct arch_aspace *as, struct mapping *m, const struct mapping_list *others)
{
    bool placed = m->vaddr != 0;
    int error;

    if ((m->flags & KYMO_PROT_WRITE) && (m->flags & KYMO_PROT_EXEC)) {
        return -EINVAL;
    }
    if (m->len == 0 || ((m->len | m->phys) & (PAGE_SIZE - 1)) || m->phys > PTE_ADDRESS) {
        return -EINVAL;
    }
    if (m->len > USER_HIGH) {
        return -ENOMEM;
    }
    if (!placed) {
        m->vaddr = aspace_find(as, m, others);
    }
    if (m->vaddr == 0 || !a64_range_free(others, m->vaddr, m->len)) {
        error = -ENOMEM;
    } else {
        error = a64_pages_set(as, m);
    }
    if (!placed) {
        as->search_from = error ? USER_HIGH : m->vaddr;
        m->vaddr = error ? 0 : m->vaddr;
    }
    return error;
}

void arch_aspace_unmap(struct arch_aspace *as, struct mapping *m)
{
    uintptr_t end = m->vaddr + m->len + PAGE_SIZE; /* with the page that stays unmapped */

    if (end > as->search_from) {
        as->search_from = end < USER_HIGH ? end : USER_HIGH;
    }
    a64_pages_drop(as, m);
}

/* A valid entry's rights may change without break-before-make. */
void arch_aspace_protect(struct arch_aspace *as, const struct mapping *m)
{
    a64_pages_protect(as, m);
}

/* Nothing is cached except in the TLB, which arch_aspace_unmap() keeps consistent. */
void arch_aspace_refresh(struct process *proc)
{
    (void)proc;
}

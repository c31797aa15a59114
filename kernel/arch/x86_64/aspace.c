/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address spaces of processes: the top table and the one below it; the TLB is in tlb.c, the rest in
 * kernel/arch/mmu/pages.c. Kernel lock held. Tested by test/board (isolation).
 */
#include "abi/errno.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/mmu/mmu.h"
#include "kernel/arch/x86_64/port.h"

/* The upper half belongs to the kernel in all spaces. */
int arch_aspace_create(struct arch_aspace *as)
{
    kernel_assert(kernel_holds_lock());
    const uint64_t *kernel = arch_phys_to_virt(x86_kernel_cr3);
    paddr_t top = phys_alloc(2 * PAGE_SIZE, PAGE_SIZE);

    as->cr3 = 0;
    if (top == 0) {
        return -ENOMEM;
    }
    as->cr3 = top | x86_pcid_take();
    uint64_t *entries = arch_phys_to_virt(top);
    entries[0] = (top + PAGE_SIZE) | PTE_TO_TABLE;
    entries[TOP_INDEX(KERNEL_VIRT)] = kernel[TOP_INDEX(KERNEL_VIRT)];
    as->search_from = USER_HIGH;
    return 0;
}

/* Only the caller's CPU may still use this space. Any other has left it by arch_switch() before it
 * released the lock, also when its thread of this process ended. */
void arch_aspace_destroy(struct arch_aspace *as)
{
    kernel_assert(kernel_holds_lock());
    if (as->cr3 == 0) {
        return;
    }
    if (x86_space() == as->cr3) {
        x86_space_switch(x86_kernel_cr3);
    }
    x86_pcid_give(as->cr3);
    /* the others were freed with the last mapping */
    phys_free(as->cr3 & PTE_ADDRESS, 2 * PAGE_SIZE);
    as->cr3 = 0;
}

void pages_tlb_drop_space(const struct arch_aspace *as)
{
    x86_tlb_drop(as->cr3, USER_LOW, USER_HIGH);
}

void pages_tlb_drop_range(const struct arch_aspace *as, uintptr_t va, size_t len)
{
    if (len) {
        x86_tlb_drop(as->cr3, va, va + len);
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* For test/kernel/arch/mmu/pages_test.c: the format of an entry, for kernel/arch/mmu/mmu.h. The
 * flags of a mapping are above the address. */
#ifndef TEST_KERNEL_ARCH_MMU_FAKE_PAGES_H
#define TEST_KERNEL_ARCH_MMU_FAKE_PAGES_H

#include "kernel/arch/aspace.h"

#define PTE_VALID 1ul
#define PTE_TABLE 2ul /* a page's entry has it, too */
#define PTE_ADDRESS 0x0000fffffffff000ul
#define PTE_FLAGS_SHIFT 48
#define PTE_TO_TABLE (PTE_TABLE | PTE_VALID)
#define PTE_IGNORED_SHIFT 2

static inline uint64_t *pages_level1(const struct arch_aspace *as)
{
    return arch_phys_to_virt(as->top);
}

static inline uint64_t pages_attributes(uint32_t flags)
{
    return (uint64_t)flags << PTE_FLAGS_SHIFT | PTE_TABLE | PTE_VALID;
}

static inline uint64_t pages_as_block(uint64_t page)
{
    return page & ~PTE_TABLE;
}

void fake_zeroed(void);
void fake_set_done(void);

static inline void pages_zeroed(void)
{
    fake_zeroed();
}

static inline void pages_set_done(void)
{
    fake_set_done();
}

/* For probes and for the TLB's owner: pages.c uses neither. */
static inline uint64_t pages_translate(uintptr_t va, bool user, bool write)
{
    return user || write ? 0 : va;
}

static inline bool pages_loaded(const struct arch_context *ctx)
{
    return ctx->error != 0;
}

#endif

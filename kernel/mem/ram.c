/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RAM of processes and of memory objects: physical memory that is charged to an account. Kernel
 * lock held. An allocation is refused if the account or one around it has no room for it, or if it
 * would leave less than the reserve free and the account may not use the reserve. Tested by
 * test/kernel (memory_test, object_test) and test/board/programs/t_quota.c.
 *
 * One bit per granule of RAM says whether it was allocated so, for D, which may read the kernel's
 * own RAM only (kernel/observe/port.c).
 *
 * Not charged: page tables (at most two pages a mapping). The event log's and D's buffers are
 * charged as the trace's memory, where they are allocated.
 */
#include "kernel/arch/aspace.h"
#include "kernel/arch/irq.h"
#include "kernel/base/cpu.h"
#include "kernel/base/quota.h"
#include "kernel/mem/mem.h"

#define WORD_BITS 32u
#define MARK_WINDOW 64 /* words written between two interrupt windows */

static struct {
    uint32_t *words; /* [a] a bit for each granule: it is allocated; NULL: not recorded */
    paddr_t start;   /* [I] RAM */
    size_t granules; /* [I] */
    size_t granule;  /* [I] bytes, a power of two */
} marks;

void ram_init(paddr_t start, size_t len)
{
    size_t granule = phys_granule();
    size_t granules = len / granule + 1;

    marks.start = start & ~(paddr_t)(granule - 1);
    marks.granules = granules;
    marks.granule = granule;
    marks.words = arch_phys_to_virt(
        phys_alloc(granules / WORD_BITS * sizeof(uint32_t) + sizeof(uint32_t), sizeof(uint32_t)));
}

static uint32_t ram_mask(size_t first, size_t end, size_t word)
{
    uint32_t mask = UINT32_MAX;

    if (first > word * WORD_BITS) {
        mask &= UINT32_MAX << first % WORD_BITS;
    }
    if (end < (word + 1) * WORD_BITS) {
        mask &= UINT32_MAX >> (WORD_BITS - end % WORD_BITS);
    }
    return mask;
}

/* Sets or clears the bits of a range; written with the lock held, read in any context. */
static void ram_mark(paddr_t pa, size_t len, bool held)
{
    if (!marks.words) {
        return;
    }
    size_t first = (pa - marks.start) / marks.granule;
    size_t end = (pa + len - 1 - marks.start) / marks.granule + 1;

    kernel_assert(pa >= marks.start && end <= marks.granules);
    for (size_t word = first / WORD_BITS; word * WORD_BITS < end; word++) {
        uint32_t old = __atomic_load_n(&marks.words[word], __ATOMIC_RELAXED);
        uint32_t mask = ram_mask(first, end, word);

        kernel_assert((old & mask) == (held ? 0 : mask));
        __atomic_store_n(&marks.words[word], held ? old | mask : old & ~mask, __ATOMIC_RELAXED);
        if (word % MARK_WINDOW == MARK_WINDOW - 1) {
            arch_irq_window();
        }
    }
}

bool ram_held(paddr_t pa, size_t bytes)
{
    if (!marks.words || pa < marks.start || bytes == 0) {
        return false;
    }
    size_t i = (pa - marks.start) / marks.granule;
    size_t end = (pa + bytes - 1 - marks.start) / marks.granule + 1;
    uint32_t held = 0;

    for (; i < end && i < marks.granules;
         i++) { /* one or two, as D reads words and short strings */
        held |= __atomic_load_n(&marks.words[i / WORD_BITS], __ATOMIC_RELAXED) >> i % WORD_BITS & 1;
    }
    return held != 0;
}

/* Charges len bytes. Returns false if the account has no room, or too little would be left. */
static bool ram_charge(struct quota *quota, size_t len)
{
    size_t reserved = quota->reserve ? 0 : quota_reserved(KYMO_LIMIT_RAM);
    size_t available = phys_available();

    kernel_assert(kernel_locked());
    return available >= reserved && len <= available - reserved &&
           quota_charge(quota, KYMO_LIMIT_RAM, len);
}

paddr_t ram_alloc(struct quota *quota, size_t len, size_t align)
{
    if (!ram_charge(quota, len)) {
        return 0;
    }
    paddr_t pa = phys_alloc_raw(len, align);
    if (!pa) {
        quota_release(quota, KYMO_LIMIT_RAM, len);
        return 0;
    }
    ram_mark(pa, len, true);
    return pa;
}

bool ram_alloc_at(struct quota *quota, paddr_t pa, size_t len)
{
    if (!ram_charge(quota, len)) {
        return false;
    }
    if (!phys_alloc_at(pa, len)) {
        quota_release(quota, KYMO_LIMIT_RAM, len);
        return false;
    }
    ram_mark(pa, len, true);
    return true;
}

void ram_free(struct quota *quota, paddr_t pa, size_t len)
{
    quota_release(quota, KYMO_LIMIT_RAM, len);
    ram_mark(pa, len, false);
    phys_free(pa, len);
}

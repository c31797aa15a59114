/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address spaces of processes in page tables, for every CPU with an MMU: three levels, 4 KB pages
 * and 2 MB blocks, for the first 4 GB; allocation of address ranges. Kernel lock held. The port
 * defines the format of an entry and how a TLB is kept consistent: ARCH_PAGES_H (mmu.h). Entries
 * are only set when they were clear, so only clearing, and changes of a valid entry's rights, need
 * TLB invalidation. Addresses outside [USER_LOW, USER_HIGH), ranges that are already mapped, and
 * memory both writable and executable are refused. Tested by test/board (t_map, isolation).
 *
 * A mapping whose virtual and physical address are equal within a block has blocks for all the 2 MB
 * that it covers, and pages at its ends. range_find() chooses such addresses, so that 1 GB takes at
 * most 512 blocks and two tables of pages; other mappings are as small as the programs in the boot
 * image, which request their addresses. There is an interrupt window between two tables.
 *
 * The entry that leads to a table counts the table's entries in use, in bits that the CPU ignores.
 * Tables are allocated on demand; a table is freed with its last entry.
 */
#include "abi/errno.h"
#include "abi/sys/kymo.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/mmu/mmu.h"

#define GUARD PAGE_SIZE /* unmapped, on both sides of a range that the kernel chose */
#define TABLE_ENTRIES 512

/* The number of used entries in the table that an entry leads to. */
#define COUNT_SHIFT PTE_IGNORED_SHIFT
#define COUNT_ONE (1ul << COUNT_SHIFT)
#define COUNT_MASK (0x3fful << COUNT_SHIFT)

static inline void entry_write(uint64_t *entry, uint64_t value)
{
    *(volatile uint64_t *)entry = value;
}

/* Returns the table below an entry, or NULL. */
static uint64_t *pages_table_below(uint64_t entry)
{
    return entry ? arch_phys_to_virt(entry & PTE_ADDRESS) : NULL;
}

/* Returns the table below an entry, allocated if there is none, or NULL without memory. A table is
 * zeroed before it becomes visible. */
static uint64_t *table_need(uint64_t *entry)
{
    if (*entry == 0) {
        paddr_t pa = phys_alloc(PAGE_SIZE, PAGE_SIZE);

        if (pa == 0) {
            return NULL;
        }
        pages_zeroed();
        entry_write(entry, pa | PTE_TO_TABLE);
    }
    return pages_table_below(*entry);
}

/* ---- address ranges ---------------------------------------------------------------- */

#define RANGE_WINDOW 64 /* mappings passed between two interrupt windows */

static const struct mapping *range_nth(const struct mapping_list *list, unsigned i)
{
    return &list->maps[list->order[i]];
}

/* Returns the position of the highest mapping that begins below this address, or n. */
static unsigned range_below(const struct mapping_list *list, uintptr_t address)
{
    unsigned low = 0, high = list->n;

    while (low < high) { /* halves each time */
        unsigned middle = (low + high) / 2;

        if (range_nth(list, middle)->vaddr < address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Returns whether [va, va + len) is whole pages, within the program's range, and overlaps no
 * mapping of the list. O(log n). */
static bool range_free(const struct mapping_list *list, uintptr_t va, size_t len)
{
    if (va < USER_LOW || va >= USER_HIGH || len > USER_HIGH - va || (va & (PAGE_SIZE - 1))) {
        return false;
    }
    unsigned i = range_below(list, va + len);
    return i == list->n || range_nth(list, i)->vaddr + range_nth(list, i)->len <= va;
}

/* Returns the highest free range below `top` with an unmapped page on both sides, for memory at pa,
 * or 0. Passes the mappings below `top` one by one, with interrupt windows. */
static uintptr_t range_find(const struct mapping_list *list, uintptr_t top, size_t len, paddr_t pa)
{
    for (unsigned i = range_below(list, top); i <= list->n; i++) {
        if (top < USER_LOW || top - USER_LOW < len + 2 * GUARD) {
            return 0;
        }
        uintptr_t va = top - GUARD - len;
        size_t odd = len >= BLOCK_SIZE ? (va - pa) & (BLOCK_SIZE - 1) : 0;
        if (va - USER_LOW < odd + GUARD) {
            return 0;
        }
        va -= odd;
        const struct mapping *m = i < list->n ? range_nth(list, i) : NULL;
        if (!m || m->vaddr + m->len <= va - GUARD) {
            return va;
        }
        top = m->vaddr;
        if (i % RANGE_WINDOW == RANGE_WINDOW - 1) {
            arch_irq_window();
        }
    }
    return 0;
}

/* ---- the tables -------------------------------------------------------------------- */

/* Consecutive entries of one table that map a part of a mapping. */
struct span {
    uint64_t *first, *table; /* table: the entry that leads to their table */
    unsigned n;
    size_t each; /* bytes: a page or a block */
};

/* Finds the entries of one table that map m from va on. Returns false if there is no table or, with
 * make, no memory for it. */
static bool span_find(const struct arch_aspace *as, const struct mapping *m, uintptr_t va,
                      bool make, struct span *s)
{
    size_t left = m->vaddr + m->len - va;
    bool in_blocks = ((m->vaddr ^ m->phys) & (BLOCK_SIZE - 1)) == 0 &&
                     (va & (BLOCK_SIZE - 1)) == 0 && left >= BLOCK_SIZE;
    unsigned index = in_blocks ? L2_INDEX(va) : L3_INDEX(va);
    uint64_t *level1 = &pages_level1(as)[L1_INDEX(va)], *level2;
    uint64_t *table = make ? table_need(level1) : pages_table_below(*level1);

    s->table = level1;
    if (table && !in_blocks) {
        level2 = s->table = &table[L2_INDEX(va)];
        bool fresh = *level2 == 0;
        table = make ? table_need(level2) : pages_table_below(*level2);
        if (table && fresh) {
            entry_write(level1, *level1 + COUNT_ONE);
        }
    }
    if (!table) {
        return false;
    }
    s->first = &table[index];
    s->each = in_blocks ? BLOCK_SIZE : PAGE_SIZE;
    s->n = TABLE_ENTRIES - index < left / s->each ? TABLE_ENTRIES - index : left / s->each;
    return true;
}

static void span_write(const struct span *s, uint64_t value, size_t step)
{
    uint64_t *entry = s->first;

#pragma GCC unroll 8
    for (unsigned i = s->n; i > 0; i--, value += step) {
        entry_write(entry++, value);
    }
}

/* Return the bytes of a span, and the entries' value for the mapping's address va. */
static inline size_t span_bytes(const struct span *s)
{
    return s->n * s->each;
}

static void span_set(const struct span *s, const struct mapping *m, uintptr_t va)
{
    uint64_t value = (m->phys + (va - m->vaddr)) | pages_attributes(m->flags);

    span_write(s, s->each == BLOCK_SIZE ? pages_as_block(value) : value, s->each);
}

/* Subtracts n from the number of used entries in the table that `entry` leads to. An empty table is
 * put on the list: its first entry holds the next one's address, which is not a valid entry.
 * Returns whether it was. */
static bool table_unused(uint64_t *entry, unsigned n, paddr_t *list)
{
    entry_write(entry, *entry - n * COUNT_ONE);
    if (*entry & COUNT_MASK) {
        return false;
    }
    paddr_t table = *entry & PTE_ADDRESS;
    entry_write(arch_phys_to_virt(table), *list);
    entry_write(entry, 0);
    *list = table;
    return true;
}

static void tables_free(paddr_t list)
{
    while (list) {
        paddr_t next = *(uint64_t *)arch_phys_to_virt(list);

        phys_free(list, PAGE_SIZE);
        list = next;
        if (list) {
            arch_irq_window();
        }
    }
}

static void pages_drop(const struct arch_aspace *as, const struct mapping *m)
{
    paddr_t empty = 0;
    struct span s;

    for (uintptr_t va = m->vaddr, end = va + m->len; va < end && span_find(as, m, va, false, &s);) {
        span_write(&s, 0, 0);
        uint64_t *level1 = &pages_level1(as)[L1_INDEX(va)];
        if (table_unused(s.table, s.n, &empty) && s.table != level1) {
            table_unused(level1, 1, &empty);
        }
        va += span_bytes(&s);
        if (va < end) {
            arch_irq_window();
        }
    }
    pages_tlb_drop_range(as, m->vaddr, m->len);
    tables_free(empty);
}

/* Undoes the part of m below va when there was no memory for the next table; and frees the table
 * above, if it was new. */
static void pages_set_failed(const struct arch_aspace *as, const struct mapping *m, uintptr_t va)
{
    struct mapping done = *m;
    uint64_t *level1 = &pages_level1(as)[L1_INDEX(va)];
    paddr_t empty = 0;

    done.len = va - m->vaddr;
    pages_drop(as, &done);
    if (*level1 && table_unused(level1, 0, &empty)) {
        pages_tlb_drop_space(as);
        tables_free(empty);
    }
}

static int pages_set(const struct arch_aspace *as, const struct mapping *m)
{
    struct span s;

    for (uintptr_t va = m->vaddr, end = va + m->len; va < end;) {
        if (!span_find(as, m, va, true, &s)) {
            pages_set_failed(as, m, va);
            return -ENOMEM;
        }
        span_set(&s, m, va);
        entry_write(s.table, *s.table + s.n * COUNT_ONE);
        va += span_bytes(&s);
        if (va < end) {
            arch_irq_window();
        }
    }
    pages_set_done();
    return 0;
}

static void pages_protect(const struct arch_aspace *as, const struct mapping *m)
{
    struct span s;

    for (uintptr_t va = m->vaddr, end = va + m->len; va < end && span_find(as, m, va, false, &s);) {
        span_set(&s, m, va);
        va += span_bytes(&s);
        if (va < end) {
            arch_irq_window();
        }
    }
    pages_tlb_drop_range(as, m->vaddr, m->len);
}

/* ---- the port interface (kernel/arch/aspace.h) --------------------------------------- */

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

/* The search begins where the previous one ended, or at memory that was unmapped above: so programs
 * that map much and unmap little don't pass all their mappings each time. */
static uintptr_t aspace_find(struct arch_aspace *as, const struct mapping *m,
                             const struct mapping_list *others)
{
    uintptr_t va = range_find(others, as->search_from, m->len, m->phys);

    if (va == 0 && as->search_from != USER_HIGH) {
        va = range_find(others, USER_HIGH, m->len, m->phys);
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
    if (m->vaddr == 0 || !range_free(others, m->vaddr, m->len)) {
        error = -ENOMEM;
    } else {
        error = pages_set(as, m);
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
    pages_drop(as, m);
}

/* A valid entry's rights may change without break-before-make. */
void arch_aspace_protect(struct arch_aspace *as, const struct mapping *m)
{
    pages_protect(as, m);
}

/* Nothing is cached except in the TLB, which arch_aspace_unmap() keeps consistent. */
void arch_aspace_refresh(struct process *proc)
{
    (void)proc;
}

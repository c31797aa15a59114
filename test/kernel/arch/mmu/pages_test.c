/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/arch/mmu/pages.c against a list of mappings, with a TLB that caches all that it can see:
 * random mappings come, change and go, and the n-th table can't be had, for each n. Afterwards the
 * tables map what the list has and nothing else, each table counts its entries, no table is left
 * over, no CPU uses an old translation, and what was refused has changed nothing. SEED=n repeats
 * a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <cmocka.h>

#include "abi/errno.h"
#include "abi/sys/kymo.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/mmu/mmu.h"
#include "test/tool/random.h"

#define TABLES 700
#define MAPS 12 /* at random */
#define MAPS_MOST 250
#define STEPS 2500
#define RW (KYMO_PROT_READ | KYMO_PROT_WRITE)
#define RAM_FROM 0x40000000ul /* physical addresses of what is mapped */
#define CACHED_MOST 300000
#define PAGES (USER_HIGH / PAGE_SIZE)
#define GB (1ul << 30)

static uint64_t table_memory[TABLES][512] __attribute__((aligned(4096)));
static bool used[TABLES];
static unsigned tables, fails_in, windows, sets_done;
static paddr_t fresh; /* a table that may still hold anything; 0: none */

static struct arch_aspace space;
static struct mapping maps[MAPS_MOST];
static uint16_t order[MAPS_MOST];
static struct mapping_list list = {maps, order, 0};
static uintptr_t search_from;

/* ---- the TLB: every entry that was in the tables when it was looked ----------------- */

enum level { TO_LEVEL2 = 1, TO_LEVEL3_OR_BLOCK, PAGE };

static struct cached {
    enum level level;
    uintptr_t va;
    uint64_t value;
} tlb[CACHED_MOST];
static unsigned ncached;
static uint32_t where[PAGE + 1][PAGES]; /* 1 + index of an entry in tlb[]; 0: not cached */

static size_t covers(enum level level)
{
    return level == PAGE ? PAGE_SIZE : level == TO_LEVEL3_OR_BLOCK ? BLOCK_SIZE : GB;
}

static uint32_t *tlb_where(enum level level, uintptr_t va)
{
    return &where[level][va / covers(level)];
}

static uint64_t without_count(uint64_t entry)
{
    return entry & ~(0x3fful << PTE_IGNORED_SHIFT);
}

static void tlb_drop(uintptr_t va, size_t len)
{
    for (unsigned i = 0; i < ncached;) {
        if (tlb[i].va < va + len && va < tlb[i].va + covers(tlb[i].level)) {
            *tlb_where(tlb[i].level, tlb[i].va) = 0;
            tlb[i] = tlb[--ncached];
            if (i < ncached) {
                *tlb_where(tlb[i].level, tlb[i].va) = i + 1;
            }
        } else {
            i++;
        }
    }
}

/* Calls see() of each entry that is set. */
static void walk(void (*see)(enum level level, uintptr_t va, const uint64_t *entry))
{
    const uint64_t *level1 = pages_level1(&space);

    for (uintptr_t i = 0; i < 512; i++) {
        if (level1[i] == 0) {
            continue;
        }
        assert_true(i * GB < USER_HIGH);
        see(TO_LEVEL2, i * GB, &level1[i]);
        const uint64_t *level2 = arch_phys_to_virt(level1[i] & PTE_ADDRESS);
        for (uintptr_t j = 0; j < 512; j++) {
            if (level2[j]) {
                see(TO_LEVEL3_OR_BLOCK, i * GB + j * BLOCK_SIZE, &level2[j]);
            }
            const uint64_t *level3 =
                level2[j] & PTE_TABLE ? arch_phys_to_virt(level2[j] & PTE_ADDRESS) : NULL;
            for (uintptr_t k = 0; level3 && k < 512; k++) {
                if (level3[k]) {
                    see(PAGE, i * GB + j * BLOCK_SIZE + k * PAGE_SIZE, &level3[k]);
                }
            }
        }
    }
}

static void tlb_see(enum level level, uintptr_t va, const uint64_t *entry)
{
    uint32_t *at = tlb_where(level, va);

    assert_true(*entry & PTE_VALID); /* what links the tables to be freed is never reached */
    if (*at == 0) {
        assert_true(ncached < CACHED_MOST);
        tlb[ncached++] = (struct cached){level, va, without_count(*entry)};
        *at = ncached;
    }
}

static void tlb_is_current(void)
{
    for (unsigned i = 0; i < ncached; i++) {
        const uint64_t *level1 = &pages_level1(&space)[L1_INDEX(tlb[i].va)], *entry = level1;
        for (unsigned level = TO_LEVEL2; level < tlb[i].level && *entry; level++) {
            const uint64_t *table = arch_phys_to_virt(*entry & PTE_ADDRESS);
            entry = &table[level == TO_LEVEL2 ? L2_INDEX(tlb[i].va) : L3_INDEX(tlb[i].va)];
        }
        assert_true(without_count(*entry) == tlb[i].value);
    }
}

void pages_tlb_drop_space(const struct arch_aspace *as)
{
    assert_ptr_equal(as, &space);
    tlb_drop(0, USER_HIGH);
}

void pages_tlb_drop_range(const struct arch_aspace *as, uintptr_t va, size_t len)
{
    assert_ptr_equal(as, &space);
    tlb_drop(va, len);
}

/* ---- what pages.c calls -------------------------------------------------------------- */

static void not_fresh(enum level level, uintptr_t va, const uint64_t *entry)
{
    (void)va;
    assert_false(level != PAGE && fresh && (*entry & PTE_ADDRESS) == fresh);
}

static unsigned number_of(paddr_t table)
{
    size_t i = (table - (paddr_t)table_memory) / PAGE_SIZE;

    assert_true(i < TABLES && table == (paddr_t)table_memory[i]);
    return (unsigned)i;
}

paddr_t phys_alloc(size_t len, size_t align)
{
    assert_true(len == PAGE_SIZE && align == PAGE_SIZE);
    walk(tlb_see);
    if (fails_in && --fails_in == 0) {
        return 0;
    }
    for (unsigned i = 1; i < TABLES; i++) {
        if (!used[i]) {
            used[i] = true;
            tables++;
            memset(table_memory[i], 0, PAGE_SIZE);
            return fresh = (paddr_t)table_memory[i];
        }
    }
    fail_msg("no table left");
    return 0;
}

void phys_free(paddr_t pa, size_t len)
{
    assert_true(len == PAGE_SIZE && used[number_of(pa)]);
    for (unsigned i = 0; i < ncached; i++) { /* no CPU may still find the table */
        assert_false(tlb[i].level != PAGE && (tlb[i].value & PTE_TABLE) &&
                     (tlb[i].value & PTE_ADDRESS) == pa);
    }
    used[number_of(pa)] = false;
    memset((void *)pa, 0xee, PAGE_SIZE);
    tables--;
}

void fake_zeroed(void)
{
    walk(not_fresh);
    fresh = 0;
}

void fake_set_done(void)
{
    sets_done++;
}

void arch_irq_window(void)
{
    assert_true(fresh == 0);
    windows++;
    walk(tlb_see);
}

/* ---- the tables against the list ------------------------------------------------------ */

static size_t mapped_bytes;
static unsigned tables_found;
static uint64_t sum; /* of all entries, to see whether anything changed */

static bool in_blocks(const struct mapping *m, uintptr_t va)
{
    uintptr_t block = va & ~(BLOCK_SIZE - 1);

    return ((m->vaddr ^ m->phys) & (BLOCK_SIZE - 1)) == 0 && block >= m->vaddr &&
           block + BLOCK_SIZE <= m->vaddr + m->len;
}

static void count_is_right(const uint64_t *entry)
{
    const uint64_t *table = arch_phys_to_virt(*entry & PTE_ADDRESS);
    unsigned n = 0;

    for (unsigned i = 0; i < 512; i++) {
        n += table[i] != 0;
    }
    assert_true(n > 0);
    assert_int_equal(*entry >> PTE_IGNORED_SHIFT & 0x3ff, n);
    assert_true(used[number_of(*entry & PTE_ADDRESS)]);
    tables_found++;
}

static void entry_is_right(enum level level, uintptr_t va, const uint64_t *entry)
{
    sum = (sum ^ *entry ^ va) * 0x9e3779b97f4a7c15ul + level;
    if (level != PAGE && (*entry & PTE_TABLE)) {
        count_is_right(entry);
        return;
    }
    for (unsigned i = 0; i < list.n; i++) {
        const struct mapping *m = &maps[order[i]];
        if (va >= m->vaddr && va < m->vaddr + m->len) {
            uint64_t want = (m->phys + (va - m->vaddr)) | pages_attributes(m->flags);
            bool block = in_blocks(m, va);
            assert_int_equal(block, level != PAGE);
            assert_true(*entry == (block ? pages_as_block(want) : want));
            mapped_bytes += covers(level);
            return;
        }
    }
    fail_msg("0x%lx is mapped, but in no mapping", (unsigned long)va);
}

static void all_is_right(void)
{
    size_t bytes = 0;

    mapped_bytes = tables_found = 0;
    sum = 0;
    for (unsigned i = 0; i < list.n; i++) {
        bytes += maps[order[i]].len;
    }
    walk(entry_is_right);
    assert_true(mapped_bytes == bytes);
    assert_int_equal(tables_found + 1, tables);
    tlb_is_current();
    assert_true(space.search_from == search_from);
}

/* ---- addresses that the kernel chooses ------------------------------------------------ */

static bool is_free(uintptr_t va, size_t len)
{
    for (unsigned i = 0; i < list.n; i++) {
        const struct mapping *m = &maps[order[i]];
        if (m->vaddr < va + len && va < m->vaddr + m->len) {
            return false;
        }
    }
    return true;
}

/* Returns the highest address below `top` that is free with a page on both sides, or 0. */
static uintptr_t best_below(uintptr_t top, size_t len, paddr_t pa)
{
    uintptr_t best = 0;

    for (unsigned i = 0; i <= list.n; i++) { /* below `top`, or below a mapping */
        uintptr_t end = i < list.n ? maps[order[i]].vaddr : top;
        uintptr_t va = end - PAGE_SIZE - len;
        if (end > top || end < len + 2 * PAGE_SIZE + USER_LOW) {
            continue;
        }
        while (len >= BLOCK_SIZE && va >= USER_LOW && (va ^ pa) & (BLOCK_SIZE - 1)) {
            va -= PAGE_SIZE;
        }
        if (va >= USER_LOW + PAGE_SIZE && is_free(va - PAGE_SIZE, len + 2 * PAGE_SIZE) &&
            va > best) {
            best = va;
        }
    }
    return best;
}

/* ---- operations ------------------------------------------------------------------------ */

static void list_add(unsigned slot)
{
    unsigned i = list.n++;

    for (; i > 0 && maps[order[i - 1]].vaddr < maps[slot].vaddr; i--) {
        order[i] = order[i - 1];
    }
    order[i] = (uint16_t)slot;
}

/* Maps maps[slot], where the nth table can't be had (0: all can). Returns the error; what fails
 * has changed nothing. */
static int map_one(unsigned slot, unsigned nth)
{
    struct mapping *m = &maps[slot], before;
    bool placed = m->vaddr != 0;
    uintptr_t want = placed ? m->vaddr : best_below(search_from, m->len, m->phys);
    unsigned tables_before = tables;

    if (!want) {
        want = best_below(USER_HIGH, m->len, m->phys);
    }
    all_is_right();
    uint64_t sum_before = sum;
    before = *m;
    fails_in = nth;
    sets_done = 0;
    int error = arch_aspace_map(&space, m, &list);
    bool refused = nth && !fails_in;
    fails_in = 0;
    fresh = 0;
    if (!placed) {
        search_from = error ? USER_HIGH : m->vaddr;
    }
    if (error) {
        assert_int_equal(error, -ENOMEM);
        assert_true(refused || !want || (placed && !is_free(want, m->len)));
        assert_memory_equal(m, &before, sizeof(before));
        all_is_right();
        assert_int_equal(tables, tables_before);
        assert_true(sum == sum_before);
        return error;
    }
    assert_true(m->vaddr == want && !refused && is_free(want, m->len));
    assert_true(sets_done > 0);
    list_add(slot);
    all_is_right();
    return 0;
}

static void unmap_one(unsigned i)
{
    unsigned slot = order[i];
    uintptr_t end = maps[slot].vaddr + maps[slot].len + PAGE_SIZE;

    list.n--;
    memmove(&order[i], &order[i + 1], (list.n - i) * sizeof(order[0]));
    walk(tlb_see);
    arch_aspace_unmap(&space, &maps[slot]);
    if (end > search_from) {
        search_from = end < USER_HIGH ? end : USER_HIGH;
    }
    maps[slot].vaddr = 0;
    all_is_right();
}

static int begin(void **state)
{
    (void)state;
    memset(maps, 0, sizeof(maps));
    memset(used, 0, sizeof(used));
    tlb_drop(0, USER_HIGH);
    list.n = tables = fails_in = fresh = 0;
    space.top = (uintptr_t)table_memory[0];
    used[0] = true;
    memset(table_memory[0], 0, PAGE_SIZE);
    tables = 1;
    space.search_from = search_from = USER_HIGH;
    return 0;
}

static int end(void **state)
{
    (void)state;
    while (list.n) {
        unmap_one(random_below(list.n));
    }
    assert_int_equal(tables, 1);
    assert_int_equal(ncached, 0);
    return 0;
}

/* ---- the tests -------------------------------------------------------------------------- */

static size_t random_len(void)
{
    switch (random_below(8)) {
    case 0:
        return BLOCK_SIZE * (1 + random_below(3)) + PAGE_SIZE * random_below(3);
    case 1:
        return PAGE_SIZE * (400 + random_below(300));
    case 2:
        return random_below(8) ? BLOCK_SIZE : GB + PAGE_SIZE * random_below(3);
    default:
        return PAGE_SIZE * (1 + random_below(16));
    }
}

static struct mapping random_mapping(void)
{
    static const uint32_t flags[] = {RW, KYMO_PROT_READ, KYMO_PROT_READ | KYMO_PROT_EXEC};
    struct mapping m = {.len = random_len(), .flags = flags[random_below(3)]};

    m.phys = RAM_FROM + (random_below(2) ? BLOCK_SIZE : PAGE_SIZE) * random_below(500);
    if (random_below(2)) { /* near the ends, and on both sides of 1 GB */
        static const uintptr_t near[] = {USER_LOW, GB - BLOCK_SIZE, GB, 3 * GB, USER_HIGH - GB / 2};
        m.vaddr = near[random_below(5)] + PAGE_SIZE * random_below(1500);
        if (m.len >= BLOCK_SIZE && random_below(2)) {
            m.vaddr = (m.vaddr & ~(BLOCK_SIZE - 1)) | (m.phys & (BLOCK_SIZE - 1));
            m.vaddr += m.vaddr < USER_LOW ? BLOCK_SIZE : 0;
        }
    }
    if (m.len >= GB && m.vaddr) {
        m.vaddr = GB - BLOCK_SIZE + (m.phys & (BLOCK_SIZE - 1));
    }
    return m;
}

static void test_random(void **state)
{
    (void)state;
    random_start();
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned what = random_below(8), slot = 0;

        if (list.n == MAPS || (what < 3 && list.n)) {
            unmap_one(random_below(list.n));
        } else if (what == 3 && list.n) {
            struct mapping *m = &maps[order[random_below(list.n)]];
            m->flags = m->flags == RW ? KYMO_PROT_READ : RW;
            walk(tlb_see);
            arch_aspace_protect(&space, m);
            all_is_right();
        } else {
            while (maps[slot].vaddr) {
                slot++;
            }
            maps[slot] = random_mapping();
            if (map_one(slot, random_below(3) ? 0 : 1 + random_below(4))) {
                maps[slot].vaddr = 0;
            }
        }
    }
}

/* For each shape and surroundings, each of its tables in turn can't be had. */
static void test_each_table_fails(void **state)
{
    static const struct mapping shapes[] = {
        {.vaddr = USER_LOW, .len = PAGE_SIZE},
        {.vaddr = GB - PAGE_SIZE, .len = 2 * PAGE_SIZE}, /* four tables */
        {.vaddr = GB - BLOCK_SIZE, .len = 2 * BLOCK_SIZE},
        {.vaddr = 2 * GB - BLOCK_SIZE - PAGE_SIZE, .len = 2 * BLOCK_SIZE + 2 * PAGE_SIZE},
        {.vaddr = 2 * BLOCK_SIZE, .len = 5 * BLOCK_SIZE, .phys = PAGE_SIZE}, /* in pages */
        {.vaddr = USER_HIGH - PAGE_SIZE, .len = PAGE_SIZE},
        {.len = 3 * BLOCK_SIZE + PAGE_SIZE, .phys = PAGE_SIZE},
        {.len = GB + BLOCK_SIZE}};
    static const struct mapping beside[] = {{0},
                                            {.vaddr = GB + 16 * PAGE_SIZE, .len = PAGE_SIZE},
                                            {.vaddr = GB - 9 * PAGE_SIZE, .len = PAGE_SIZE}};

    for (unsigned b = 0; b < 3; b++) {
        for (unsigned s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
            unsigned n = 0, before;
            begin(state);
            maps[1] = beside[b];
            maps[1].phys += RAM_FROM;
            assert_int_equal(maps[1].len ? map_one(1, 0) : 0, 0);
            before = tables;
            if (shapes[s].vaddr && !is_free(shapes[s].vaddr, shapes[s].len)) {
                end(state);
                continue;
            }
            do {
                maps[0] = shapes[s];
                maps[0].phys += RAM_FROM;
                maps[0].flags = RW;
                n++;
            } while (map_one(0, n) != 0 && n < 20);
            assert_int_equal(n, tables - before + 1); /* each one has failed once */
            end(state);
        }
    }
}

/* Interrupts get in between two tables, however long a call takes. */
static void test_windows(void **state)
{
    const struct mapping large = {.vaddr = GB - 8 * BLOCK_SIZE,
                                  .len = 16 * BLOCK_SIZE,
                                  .phys = RAM_FROM + PAGE_SIZE,
                                  .flags = RW};

    begin(state);
    maps[0] = large; /* in pages: 17 tables at two levels */
    windows = 0;
    assert_int_equal(map_one(0, 0), 0);
    assert_true(windows >= 15);
    windows = 0;
    arch_aspace_protect(&space, &maps[0]);
    assert_true(windows >= 15);
    windows = 0;
    unmap_one(0);
    assert_true(windows >= 15 + 17); /* between tables, and between two that are freed */
}

/* All is mapped but `gap` pages at the lower end, where a range of `pages` may just fit or not. */
static void fits_below(void **state, unsigned gap, unsigned pages, paddr_t pa)
{
    begin(state);
    maps[1].vaddr = maps[1].phys = USER_LOW + gap * PAGE_SIZE;
    maps[1].len = USER_HIGH - maps[1].vaddr;
    maps[1].flags = RW;
    assert_int_equal(map_one(1, 0), 0);
    maps[0] = (struct mapping){.len = pages * PAGE_SIZE, .phys = pa, .flags = RW};
    if (map_one(0, 0) == 0) { /* against the model, at that */
        assert_true(gap >= pages + 2);
    } else {
        assert_true(pages >= 512 || gap < pages + 2);
    }
    end(state);
}

static void test_ends_of_a_range(void **state)
{
    const paddr_t odd[] = {RAM_FROM, RAM_FROM + PAGE_SIZE, RAM_FROM - PAGE_SIZE,
                           RAM_FROM + 100 * PAGE_SIZE};

    for (unsigned gap = 1; gap < 7; gap++) {
        for (unsigned pages = 1; pages < 5; pages++) {
            fits_below(state, gap, pages, RAM_FROM);
        }
    }
    for (unsigned gap = 510; gap < 1030; gap += gap < 518 || gap > 1020 ? 1 : 13) {
        for (unsigned i = 0; i < 4; i++) {
            fits_below(state, gap, 512, odd[i]);
        }
    }
    begin(state); /* neighbours that a program asks for need no page between them */
    for (unsigned i = 0; i < 3; i++) {
        maps[i] = (struct mapping){.vaddr = GB + PAGE_SIZE * (i == 0   ? 1
                                                              : i == 1 ? 2
                                                                       : 0),
                                   .len = PAGE_SIZE,
                                   .phys = RAM_FROM,
                                   .flags = RW};
        assert_int_equal(map_one(i, 0), 0);
    }
    end(state);
}

/* A search that finds nothing below where the previous one ended begins anew at the upper end. */
static void test_search_again(void **state)
{
    begin(state);
    maps[0].vaddr = maps[0].phys = USER_LOW + 4 * PAGE_SIZE;
    maps[0].len = USER_HIGH - 3 * PAGE_SIZE - maps[0].vaddr;
    maps[0].flags = RW;
    assert_int_equal(map_one(0, 0), 0);
    for (unsigned pages = 2; pages > 0; pages--) { /* two fit only below, and one more only above */
        maps[pages] = (struct mapping){.len = pages * PAGE_SIZE, .phys = RAM_FROM, .flags = RW};
        assert_int_equal(map_one(pages, 0), 0);
    }
    assert_true(maps[2].vaddr < maps[0].vaddr && maps[1].vaddr > maps[0].vaddr);
    end(state);
}

/* Interrupts get in while a search passes many mappings, too, each 64 of them. */
static void test_search_windows(void **state)
{
    begin(state);
    for (unsigned i = 0; i < 200; i++) {
        maps[i] = (struct mapping){.vaddr = USER_HIGH - (2 * i + 2) * PAGE_SIZE,
                                   .len = PAGE_SIZE,
                                   .phys = RAM_FROM,
                                   .flags = RW};
        assert_int_equal(map_one(i, 0), 0);
    }
    maps[200] = (struct mapping){.len = PAGE_SIZE, .phys = RAM_FROM, .flags = RW};
    windows = 0;
    assert_int_equal(map_one(200, 0), 0);
    assert_int_equal(windows, 3);
    end(state);
}

static void test_refused(void **state)
{
    static const struct {
        struct mapping m;
        int error;
    } rows[] = {
        {{.vaddr = GB, .len = PAGE_SIZE, .flags = KYMO_PROT_WRITE | KYMO_PROT_EXEC}, -EINVAL},
        {{.vaddr = GB, .flags = RW}, -EINVAL},
        {{.vaddr = GB, .len = PAGE_SIZE + 1, .flags = RW}, -EINVAL},
        {{.vaddr = GB, .len = PAGE_SIZE, .phys = 0x800, .flags = RW}, -EINVAL},
        {{.vaddr = GB, .len = PAGE_SIZE, .phys = PTE_ADDRESS + PAGE_SIZE, .flags = RW}, -EINVAL},
        {{.vaddr = GB, .len = USER_HIGH + PAGE_SIZE, .flags = RW}, -ENOMEM},
        {{.len = USER_HIGH + PAGE_SIZE, .flags = RW}, -ENOMEM},
        {{.vaddr = USER_LOW - PAGE_SIZE, .len = PAGE_SIZE, .flags = RW}, -ENOMEM},
        {{.vaddr = USER_HIGH, .len = PAGE_SIZE, .flags = RW}, -ENOMEM},
        {{.vaddr = USER_HIGH - PAGE_SIZE, .len = 2 * PAGE_SIZE, .flags = RW}, -ENOMEM},
        {{.vaddr = GB + 1, .len = PAGE_SIZE, .flags = RW}, -ENOMEM},
        {{.vaddr = 2 * GB, .len = PAGE_SIZE, .flags = RW}, -ENOMEM},
        {{.vaddr = 2 * GB - PAGE_SIZE, .len = 2 * PAGE_SIZE, .flags = RW}, -ENOMEM}};

    begin(state);
    maps[0] = (struct mapping){.vaddr = 2 * GB, .len = PAGE_SIZE, .phys = RAM_FROM, .flags = RW};
    assert_int_equal(map_one(0, 0), 0);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mapping m = rows[i].m;
        assert_int_equal(arch_aspace_map(&space, &m, &list), rows[i].error);
        assert_memory_equal(&m, &rows[i].m, sizeof(m));
        all_is_right();
    }
    end(state);
}

static void test_shape(void **state)
{
    static const size_t most = USER_HIGH - USER_LOW - 2 * PAGE_SIZE;
    size_t rounded, align;

    (void)state;
    assert_int_equal(arch_map_shape(0, RW, &rounded, &align), -ENOMEM);
    assert_int_equal(arch_map_shape(most + 1, RW, &rounded, &align), -ENOMEM);
    assert_int_equal(arch_map_shape(SIZE_MAX, RW, &rounded, &align), -ENOMEM);
    for (size_t len = 1; len <= 2 * PAGE_SIZE; len++) {
        assert_int_equal(arch_map_shape(len, RW, &rounded, &align), 0);
        assert_true(rounded >= len && rounded < len + PAGE_SIZE && rounded % PAGE_SIZE == 0);
        assert_int_equal(align, PAGE_SIZE);
    }
    assert_int_equal(arch_map_shape(most, RW, &rounded, &align), 0);
    assert_true(rounded == most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random, begin, end),
        cmocka_unit_test(test_each_table_fails),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_ends_of_a_range),
        cmocka_unit_test(test_search_again),
        cmocka_unit_test(test_search_windows),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_shape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/mem/phys.c against a model, for several sizes of RAM: what it returns is free, aligned and
 * inside; it refuses only if by the rule of docs/inside/design.md nothing fits; all of it comes
 * back; and no call takes more than STEPS_MOST steps, also with 1 GB in pieces. A step is a basic
 * block: phys.c is compiled with a call at each (unit.mk). RAM is address space that is hardly
 * touched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "kernel/mem/mem.h"
#include "test/tool/random.h"
#include "test/kernel/fake/fake.h"

#define GB (1ul << 30)
#define GRANULES_MOST (GB / 4096 + 65536)
#define BLOCKS 6000
#define STEPS_MOST 400

static unsigned steps;

void __sanitizer_cov_trace_pc(void)
{
    steps++;
}

/* ---- the model --------------------------------------------------------------------- */

static uint8_t used[GRANULES_MOST], zeros[GRANULES_MOST];
static uintptr_t space; /* what RAM is made of, aligned to 1 GB */
static struct {
    uintptr_t start, end; /* RAM, whole granules */
    size_t granule, top;  /* bytes of a granule and of a highest block */
    size_t available;
    unsigned most; /* steps of a call */
} ram;

static size_t index_of(uintptr_t pa)
{
    return (pa - ram.start) / ram.granule;
}

static size_t granules(size_t len)
{
    return (len + ram.granule - 1) / ram.granule;
}

static void ram_open(uintptr_t offset, size_t len)
{
    uintptr_t start = space + offset, end = start + len;

    memset(&ram, 0, sizeof(ram));
    for (ram.granule = 256; len / ram.granule > 65536 && ram.granule < 4096; ram.granule *= 2) {
    }
    ram.start = (start + ram.granule - 1) / ram.granule * ram.granule;
    ram.end = end / ram.granule * ram.granule;
    ram.top = ram.granule;
    while ((end - 1) / ram.top - start / ram.top >= 256) {
        ram.top *= 2;
    }
    memset(used, 0, sizeof(used));
    phys_init(start, len);
    ram.available = phys_available();
    size_t total = ram.end - ram.start;
    assert_true(ram.available <= total && total - ram.available <= total / 512 + ram.granule);
    memset(used, 1, (total - ram.available) / ram.granule); /* the sets, at the start */
}

static bool all_free(uintptr_t from, size_t len)
{
    return from >= ram.start && from + len <= ram.end &&
           memcmp(&used[index_of(from)], zeros, len / ram.granule) == 0;
}

/* By the rule: a free block of the power of two that holds both, or, above a highest block, so many
 * highest blocks in a row, the first of them aligned. */
static bool model_fits(size_t len, size_t align, uintptr_t end)
{
    size_t need = len > align ? len : align, step = ram.granule;
    uintptr_t last = end < ram.end ? end : ram.end;

    while (step < need && step < ram.top) {
        step *= 2;
    }
    if (need > ram.top) {
        need = (len + ram.top - 1) / ram.top * ram.top;
        step = align > ram.top ? align : ram.top;
    } else {
        need = step;
    }
    for (uintptr_t at = ram.start / step * step; at + len <= last; at += step) {
        if (all_free(at, need)) {
            return true;
        }
    }
    return false;
}

/* ---- calls, checked ---------------------------------------------------------------- */

static void count(void)
{
    ram.most = steps > ram.most ? steps : ram.most;
    if (steps > STEPS_MOST) {
        fail_msg("%u steps", steps);
    }
    assert_int_equal(phys_available(), ram.available);
}

static uintptr_t take_below(size_t len, size_t align, uintptr_t end)
{
    steps = 0;
    uintptr_t pa =
        end == UINTPTR_MAX ? phys_alloc_raw(len, align) : phys_alloc_below(len, align, end);

    if (!pa) {
        count();
        assert_false(model_fits(len, align, end));
        return 0;
    }
    assert_true(pa + len <= end);
    ram.available -= granules(len) * ram.granule;
    count();
    assert_int_equal(pa & (align - 1), 0);
    assert_true(all_free(pa, granules(len) * ram.granule));
    memset(&used[index_of(pa)], 1, granules(len));
    return pa;
}

static uintptr_t take(size_t len, size_t align)
{
    return take_below(len, align, UINTPTR_MAX);
}

/* Below a random address, mostly in RAM. */
static uintptr_t take_low(size_t len, size_t align)
{
    size_t all = ram.end - ram.start;

    return take_below(len, align, ram.start - 1000 + random_below((uint32_t)all + 2000));
}

/* At a random place, also before and after RAM; the steps grow with the blocks that are there. */
static uintptr_t take_at(size_t len)
{
    size_t all = index_of(ram.end);
    uintptr_t pa = ram.start + ram.granule * random_below((uint32_t)all + 2) - ram.granule;
    bool is_free = pa >= ram.start && len <= ram.end - pa && pa < ram.end &&
                   all_free(pa, granules(len) * ram.granule);

    if (random_below(16) == 0) {
        assert_false(phys_alloc_at(pa + 1, len));
    }
    assert_int_equal(phys_alloc_at(pa, len), is_free);
    if (is_free) {
        ram.available -= granules(len) * ram.granule;
        memset(&used[index_of(pa)], 1, granules(len));
    }
    assert_int_equal(phys_available(), ram.available);
    return is_free ? pa : 0;
}

static void give(uintptr_t pa, size_t len)
{
    steps = 0;
    phys_free(pa, len);
    ram.available += granules(len) * ram.granule;
    count();
    memset(&used[index_of(pa)], 0, granules(len));
}

/* ---- random ------------------------------------------------------------------------ */

static struct {
    uintptr_t at;
    size_t len;
} blocks[BLOCKS];

/* Mostly small, of any length; now and then a good part of RAM. */
static size_t random_len(void)
{
    size_t all = ram.end - ram.start, most = 64 * ram.granule;

    switch (random_below(64)) {
    case 0:
        most = all;
        break;
    case 1:
    case 2:
        most = all / 16;
        break;
    default:
        break;
    }
    return 1 + random_below((uint32_t)most);
}

static void random_ram(uintptr_t offset, size_t len, unsigned rounds)
{
    unsigned n = 1 + random_below(BLOCKS), refused = 0;

    ram_open(offset, len);
    size_t largest = ram.available;
    while (largest && !model_fits(largest, 1, UINTPTR_MAX)) {
        largest -= ram.granule;
    }
    memset(blocks, 0, sizeof(blocks));
    for (unsigned i = 0; i < rounds; i++) {
        unsigned b = random_below(n);

        if (blocks[b].at) {
            give(blocks[b].at, blocks[b].len);
            blocks[b].at = 0;
            continue;
        }
        blocks[b].len = random_len();
        size_t align = random_below(8) ? 1 : (size_t)1 << random_below(24);
        switch (random_below(4)) {
        case 0:
            blocks[b].at = take_at(blocks[b].len);
            break;
        case 1:
            blocks[b].at = take_low(blocks[b].len, align);
            break;
        default:
            blocks[b].at = take(blocks[b].len, align);
        }
        refused += !blocks[b].at;
    }
    for (unsigned b = 0; b < n; b++) {
        if (blocks[b].at) {
            give(blocks[b].at, blocks[b].len);
        }
    }
    /* All of it has merged again: the largest piece is there. */
    uintptr_t pa = take(largest, 1);
    assert_true(pa);
    give(pa, largest);
    print_message("%7zu KB: %u refused, at most %u steps, largest %zu KB of %zu\n", len / 1024,
                  refused, ram.most, largest / 1024, phys_available() / 1024);
}

static void test_random(void **state)
{
    (void)state;
    random_ram(0, 64 << 10, 100000);
    random_ram(0x12300, 192 << 10, 100000);
    random_ram(100, (1 << 20) + 777, 100000);
    random_ram(0, 16 << 20, 200000);
    random_ram(0xa81000, (256 << 20) - 0xa81000, 250000);
    random_ram(0xa81000, GB - 0xa81000, 250000);
    random_ram(random_below(1 << 20), 4096 + random_below(1u << 28), 100000);
}

/* ---- the worst states of 1 GB ------------------------------------------------------ */

static uintptr_t singles[GRANULES_MOST];

static unsigned fill(size_t len)
{
    unsigned n = 0;

    do {
        singles[n] = take(len, 1);
    } while (singles[n] && ++n);
    return n;
}

/* All in use in single granules; then each second one, then each other free, to all that merges. */
static void test_checkers(void **state)
{
    (void)state;
    ram_open(0xa81000, GB - 0xa81000);
    unsigned n = fill(ram.granule);
    assert_int_equal(ram.available, 0);
    assert_int_equal(take(1, 1), 0);
    for (unsigned i = 0; i < n; i += 2) {
        give(singles[i], 1);
    }
    for (unsigned i = 1; i < 20; i++) {
        assert_int_equal(take(ram.granule << i, 1), 0);
    }
    for (unsigned i = 1; i < n; i += 2) {
        give(singles[i], 1);
    }
    print_message("singles: at most %u steps\n", ram.most);
}

/* Each second highest block in use: a search for two in a row sees them all. And the largest pieces
 * there are, of odd lengths. */
static void test_highest(void **state)
{
    (void)state;
    ram_open(0xa81000, GB - 0xa81000);
    unsigned n = fill(ram.top);
    for (unsigned i = 0; i < n; i += 2) {
        give(singles[i], ram.top);
    }
    assert_int_equal(take(ram.top + 1, 1), 0);
    assert_int_equal(take(ram.top, 4 * ram.top) % (4 * ram.top), 0);
    ram_open(0xa81000, GB - 0xa81000);
    size_t len = 3 * (GB / 4) + 5 * ram.granule;
    for (unsigned i = 0; i < 15; i++, len += ram.granule * 3333) {
        uintptr_t pa = take(len, 2 << 20);
        assert_true(pa);
        give(pa, len);
    }
    /* One granule out of a highest block, and back, passes each order. */
    uintptr_t pa = take(1, 1);
    give(pa, 1);
    print_message("highest: at most %u steps\n", ram.most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_checkers),
        cmocka_unit_test(test_highest),
    };
    void *at = mmap(NULL, 3 * GB, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    random_start();
    if (at == MAP_FAILED) {
        perror("phys_test");
        return 1;
    }
    space = ((uintptr_t)at + GB - 1) & ~(GB - 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

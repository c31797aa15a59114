/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools, physical memory, mappings and copies: kernel/base/pool.c, phys.c, vm.c, copy.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/arch/aspace.h"
#include "test/kernel/fake/fake.h"
#include "test/tool/random.h"
#include "abi/errno.h"
#include "kernel/base/pool.h"

#define RAM (1u << 20)
#define RW (KYMO_PROT_READ | KYMO_PROT_WRITE)

static void test_pool(void **state)
{
    struct {
        void *link;
        char bytes[24];
    } objects[5], *got[5];
    struct pool pool;

    (void)state;
    pool_init(&pool, objects, sizeof(objects[0]), 5);
    for (int i = 0; i < 5; i++) {
        got[i] = pool_alloc(&pool);
        assert_ptr_equal(got[i], &objects[i]);
        assert_null(got[i]->link);
        memset(got[i], 0xaa, sizeof(*got[i]));
    }
    assert_null(pool_alloc(&pool));
    pool_free(&pool, got[2]);
    assert_int_equal(pool.used, 4);
    got[2] = pool_alloc(&pool);
    assert_ptr_equal(got[2], &objects[2]);
    assert_int_equal(got[2]->bytes[7], 0);
}

/* Random blocks never overlap, are aligned and cleared, and all comes back. */
static void test_phys(void **state)
{
    struct {
        paddr_t at;
        size_t len;
        uint8_t mark;
    } blocks[40] = {0};
    char *ram = malloc(RAM);

    (void)state;
    memset(ram, 0x55, RAM);
    phys_init((paddr_t)ram, RAM);
    size_t before = phys_available();
    assert_true(before > RAM - RAM / 64 && before <= RAM);
    assert_int_equal(phys_alloc(0, 1), 0);
    assert_int_equal(phys_alloc(RAM * 2ul, 1), 0);
    for (unsigned n = 0; n < 20000; n++) {
        unsigned i = random_below(40);
        if (blocks[i].at) {
            for (size_t b = 0; b < blocks[i].len; b++) {
                assert_int_equal(((uint8_t *)blocks[i].at)[b], blocks[i].mark);
            }
            phys_free(blocks[i].at, blocks[i].len);
            blocks[i].at = 0;
            continue;
        }
        size_t align = 1ul << random_below(15);
        blocks[i].len = 1 + random_below(random_below(10) ? 3000 : 200000);
        blocks[i].at = phys_alloc(blocks[i].len, align);
        if (!blocks[i].at) {
            continue;
        }
        assert_int_equal(blocks[i].at % align, 0);
        assert_true(blocks[i].at >= (paddr_t)ram &&
                    blocks[i].at + blocks[i].len <= (paddr_t)ram + RAM);
        assert_int_equal(((uint8_t *)blocks[i].at)[random_below((uint32_t)blocks[i].len)], 0);
        blocks[i].mark = (uint8_t)(n % 251 + 1);
        memset((void *)blocks[i].at, blocks[i].mark, blocks[i].len);
    }
    for (unsigned i = 0; i < 40; i++) {
        if (blocks[i].at) {
            phys_free(blocks[i].at, blocks[i].len);
        }
    }
    assert_int_equal(phys_available(), before);
    free(ram);
}

static struct process proc;

static void map(uintptr_t vaddr, size_t len, unsigned flags)
{
    struct mapping m = {.vaddr = vaddr, .len = len, .flags = flags};

    assert_int_equal(vm_map(&proc, &m), 0);
}

static void test_user_ptr(void **state)
{
    char *ram = malloc(RAM);
    size_t n;

    (void)state;
    phys_init((paddr_t)ram, RAM);
    size_t before = phys_available();
    memset(&proc, 0, sizeof(proc));
    fake_account(&proc);
    assert_null(vm_user_ptr(&proc, 0, 1, KYMO_PROT_READ));
    map(0x1000, 4096, RW);
    map(0x2000, 128, KYMO_PROT_READ);
    map(UINTPTR_MAX - 4095, 4032, RW);
    char *base = vm_user_ptr(&proc, 0x1000, 4096, RW);
    assert_non_null(base);
    assert_ptr_equal(vm_user_ptr(&proc, 0x1fff, 1, KYMO_PROT_WRITE), base + 4095);
    assert_null(vm_user_ptr(&proc, 0x1fff, 2, KYMO_PROT_READ)); /* two mappings */
    assert_null(vm_user_ptr(&proc, 0x2000, 1, KYMO_PROT_WRITE));
    assert_non_null(vm_user_ptr(&proc, 0x2000, 0, KYMO_PROT_READ));
    assert_null(vm_user_ptr(&proc, 0x2080, 0, KYMO_PROT_READ));
    assert_null(vm_user_ptr(&proc, 0x1800, SIZE_MAX, KYMO_PROT_READ));
    assert_null(vm_user_ptr(&proc, 0x1800, SIZE_MAX - 0x1000, KYMO_PROT_READ));
    assert_null(vm_user_ptr(&proc, UINTPTR_MAX, 1, KYMO_PROT_READ));
    assert_null(vm_user_ptr(&proc, UINTPTR_MAX - 64, 200, KYMO_PROT_READ));
    n = 500;
    assert_non_null(vm_user_span(&proc, 0x1fc0, &n, KYMO_PROT_READ));
    assert_int_equal(n, 64);
    assert_int_equal(vm_unmap(&proc, 0x1000, 4032), -EINVAL);
    assert_int_equal(vm_unmap(&proc, 0x1000, 4096), 0);
    assert_null(vm_user_ptr(&proc, 0x1000, 1, KYMO_PROT_READ));
    assert_non_null(vm_user_ptr(&proc, 0x2000, 128, KYMO_PROT_READ)); /* it has moved up */
    vm_process_gone(&proc);
    assert_null(vm_user_ptr(&proc, 0x2000, 1, KYMO_PROT_READ));
    assert_int_equal(proc.space.arch.mapped, 0);
    assert_int_equal(phys_available(), before);
    free(ram);
}

static void test_devices_and_failures(void **state)
{
    char *ram = malloc(RAM);
    struct mapping device = {.vaddr = 0x9000, .len = 64, .phys = 0x40000000};
    struct mapping big = {.len = RAM * 2ul, .flags = RW}, any = {.len = 64, .flags = RW};

    (void)state;
    phys_init((paddr_t)ram, RAM);
    size_t before = phys_available();
    memset(&proc, 0, sizeof(proc));
    fake_account(&proc);
    device.flags = RW | KYMO_MAP_DEVICE;
    assert_int_equal(vm_map(&proc, &device), 0);
    assert_null(vm_user_ptr(&proc, 0x9000, 4, KYMO_PROT_READ));
    assert_int_equal(vm_map(&proc, &big), -ENOMEM);
    fake_map_error = -ENOMEM;
    assert_int_equal(vm_map(&proc, &any), -ENOMEM);
    fake_map_error = 0;
    assert_int_equal(phys_available(), before);
    for (unsigned i = 1; i < CONFIG_MAPPINGS; i++) {
        map(0, 64, RW);
    }
    assert_int_equal(vm_map(&proc, &(struct mapping){.len = 64, .flags = RW}), -EAGAIN);
    vm_process_gone(&proc);
    assert_int_equal(phys_available(), before);
    free(ram);
}

/* A range over three mappings that touch; and what fails writes nothing. */
static void test_copies(void **state)
{
    char *ram = malloc(RAM), text[40], out[600], in[600];

    (void)state;
    phys_init((paddr_t)ram, RAM);
    memset(&proc, 0, sizeof(proc));
    fake_account(&proc);
    map(0x1000, 256, RW);
    map(0x1140, 192, RW);
    map(0x1100, 64, RW);
    for (unsigned i = 0; i < sizeof(in); i++) {
        in[i] = (char)(i % 127 + 1);
    }
    assert_int_equal(copy_out(&proc, 0x1010, in, 480), 0);
    assert_int_equal(copy_in(&proc, out, 0x1010, 480), 0);
    assert_memory_equal(in, out, 480);
    assert_int_equal(copy_out(&proc, 0x1010, out + 1, 500), -EFAULT);
    assert_int_equal(copy_in(&proc, out, 0x1010, 480), 0);
    assert_memory_equal(in, out, 480);
    assert_int_equal(copy_in(&proc, out, 0xfff, 2), -EFAULT);
    assert_int_equal(copy_out(&proc, 0x10f8, "across two mappings", 20), 0);
    assert_int_equal(copy_in_string(&proc, text, 0x10f8, sizeof(text)), 19);
    assert_string_equal(text, "across two mappings");
    assert_int_equal(copy_in_string(&proc, text, 0x10f8, 19), -ENAMETOOLONG);
    assert_int_equal(copy_out(&proc, 0x1200 - 8, "no NUL\n\n", 8), 0);
    assert_int_equal(copy_in_string(&proc, text, 0x1200 - 8, sizeof(text)), -EFAULT);
    assert_int_equal(copy_in_string(&proc, text, 0, sizeof(text)), -EFAULT);
    vm_process_gone(&proc);
    free(ram);
}

/* ---- random mappings against a model that knows each byte -------------------------- */

#define SLOT 64u
#define SLOTS 64u
#define AREA 0x10000u

static struct {
    uint8_t prot[SLOTS];  /* 0: not mapped */
    uint8_t first[SLOTS]; /* of the mapping that the slot is in */
    uint8_t bytes[SLOTS * SLOT];
} model;

static bool model_allows(unsigned at, unsigned len, unsigned prot)
{
    bool allows = at + len <= sizeof(model.bytes);

    for (unsigned i = at; allows && i < at + len; i++) {
        allows = (model.prot[i / SLOT] & prot) == prot;
    }
    return allows;
}

static void random_map(void)
{
    unsigned first = random_below(SLOTS), n = 0, most = 1 + random_below(5);
    unsigned prot = random_below(3) ? RW : KYMO_PROT_READ;

    while (n < most && first + n < SLOTS && model.prot[first + n] == 0) {
        n++;
    }
    if (n == 0 || proc.space.nmaps == CONFIG_MAPPINGS) {
        return;
    }
    map(AREA + first * SLOT, n * SLOT, prot);
    memset(&model.prot[first], (int)prot, n);
    memset(&model.first[first], (int)first, n);
    memset(&model.bytes[first * SLOT], 0, n * SLOT);
}

static void random_unmap(void)
{
    unsigned slot = random_below(SLOTS), first = model.first[slot];

    if (model.prot[slot] == 0) {
        assert_int_equal(vm_unmap(&proc, AREA + slot * SLOT, 0), -EINVAL);
        return;
    }
    assert_int_equal(vm_unmap(&proc, AREA + first * SLOT, 0), 0);
    for (unsigned i = first; i < SLOTS && model.first[i] == first; i++) {
        model.prot[i] = 0;
        model.first[i] = UINT8_MAX;
    }
}

static void random_copy(void)
{
    unsigned at = random_below(SLOTS * SLOT), len = 1 + random_below(4 * SLOT);
    uint8_t bytes[4 * SLOT];

    if (random_below(2)) {
        for (unsigned i = 0; i < len; i++) {
            bytes[i] = (uint8_t)random_below(256);
        }
        bool allowed = model_allows(at, len, KYMO_PROT_WRITE);
        assert_int_equal(copy_out(&proc, AREA + at, bytes, len), allowed ? 0 : -EFAULT);
        if (allowed) {
            memcpy(&model.bytes[at], bytes, len);
        }
        return;
    }
    bool allowed = model_allows(at, len, KYMO_PROT_READ);
    assert_int_equal(copy_in(&proc, bytes, AREA + at, len), allowed ? 0 : -EFAULT);
    if (allowed) {
        assert_memory_equal(bytes, &model.bytes[at], len);
    }
}

static void test_random_mappings(void **state)
{
    char *ram = malloc(RAM);

    (void)state;
    phys_init((paddr_t)ram, RAM);
    memset(&proc, 0, sizeof(proc));
    fake_account(&proc);
    memset(model.first, UINT8_MAX, sizeof(model.first));
    for (unsigned n = 0; n < 30000; n++) {
        unsigned what = random_below(8), mapped = 0;

        if (what == 0) {
            random_map();
        } else if (what == 1) {
            random_unmap();
        } else {
            random_copy();
        }
        for (unsigned i = 0; i < SLOTS; i++) {
            mapped += model.prot[i] ? SLOT : 0;
        }
        assert_int_equal(proc.space.owned_bytes, mapped);
    }
    vm_process_gone(&proc);
    assert_int_equal(proc.space.owned_bytes, 0);
    free(ram);
}

/* As many mappings as a process can have, at random addresses, against a table; the order is right
 * after each step, and all memory comes back. */
#define MANY_PLACES 4096u
#define MANY_AT(place) (0x100000ul + (place)*2ul * FAKE_GRANULE)

static struct process many;
static bool there[MANY_PLACES];

static void many_step(unsigned *mapped)
{
    unsigned place = random_below(MANY_PLACES);
    struct mapping m = {.vaddr = MANY_AT(place), .len = FAKE_GRANULE, .flags = RW};

    if (there[place]) {
        assert_int_equal(vm_unmap(&many, MANY_AT(place), FAKE_GRANULE), 0);
    } else {
        int error = vm_map(&many, &m);
        assert_int_equal(error, *mapped == CONFIG_MAPPINGS ? -EAGAIN : 0);
        if (error) {
            return;
        }
    }
    there[place] = !there[place];
    *mapped += there[place] ? 1u : -1u;
}

static void many_compare(unsigned mapped)
{
    unsigned place = random_below(MANY_PLACES);
    uintptr_t inside = MANY_AT(place) + random_below(FAKE_GRANULE);

    assert_int_equal(many.space.nmaps, mapped);
    assert_int_equal(vm_user_ptr(&many, inside, 1, RW) != NULL, there[place]);
    assert_null(vm_user_ptr(&many, MANY_AT(place) + FAKE_GRANULE, 1, KYMO_PROT_READ));
    assert_int_equal(vm_find(&many, MANY_AT(place), 0) != NULL, there[place]);
    for (unsigned i = 1; i < mapped; i++) {
        assert_true(vm_nth(&many.space, i)->vaddr < vm_nth(&many.space, i - 1)->vaddr);
    }
}

static void test_many_mappings(void **state)
{
    const unsigned steps[] = {4000, 1500, 6000}; /* to all, and beyond */
    char *ram = malloc(RAM);
    unsigned mapped = 0;

    (void)state;
    phys_init((paddr_t)ram, RAM);
    size_t before = phys_available();
    fake_account(&many);
    for (unsigned round = 0; round < 3; round++) {
        memset(there, 0, sizeof(there));
        for (unsigned n = 0; n < steps[round]; n++) {
            many_step(&mapped);
            many_compare(mapped);
        }
        vm_process_gone(&many);
        mapped = 0;
        assert_int_equal(phys_available(), before);
        assert_int_equal(many.quota.used[KYMO_LIMIT_RAM], 0);
        assert_int_equal(many.quota.used[KYMO_LIMIT_MAPPINGS], 0);
    }
    free(ram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool),          cmocka_unit_test(test_phys),
        cmocka_unit_test(test_user_ptr),      cmocka_unit_test(test_devices_and_failures),
        cmocka_unit_test(test_copies),        cmocka_unit_test(test_random_mappings),
        cmocka_unit_test(test_many_mappings),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

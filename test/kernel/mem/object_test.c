/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory objects: kernel/mem/object.c, object_calls.c and the mapping of them by mem_calls.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "test/kernel/fake/fake.h"
#include "test/tool/random.h"
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/kercall.h"
#include "kernel/mem/mem.h"

#define RAM (1u << 20)
#define PROCESSES 4
#define R KYMO_PROT_READ
#define RW (KYMO_PROT_READ | KYMO_PROT_WRITE)
#define NEW (KYMO_OBJECT_WRITE | KYMO_OBJECT_CREATE | KYMO_OBJECT_EXCLUSIVE)
#define W KYMO_OBJECT_WRITE

/* What a process says to the kernel, in its only memory. */
struct page {
    char name[64];
    struct kymo_map map;
    struct kymo_object_info info;
};

static struct process procs[PROCESSES];
static struct thread threads[PROCESSES];
static struct page *pages[PROCESSES];
static char *ram;
static size_t before;

bool trace_buffers(uint64_t *paddr, uint64_t *bytes)
{
    (void)paddr;
    (void)bytes;
    return false;
}

/* The one device that drivers may map. */
static paddr_t device;
static size_t device_len;

bool arch_device_allowed(paddr_t pa, size_t len)
{
    return pa == device && len <= device_len;
}

void arch_context_set_tls(struct thread *t, uintptr_t tls)
{
    (void)t;
    (void)tls;
}

static void born(unsigned p)
{
    struct mapping m = {.len = sizeof(struct page), .flags = RW};

    static int32_t pids = 1;

    memset(&procs[p], 0, sizeof(procs[p]));
    fake_account(&procs[p]);
    procs[p].pid = ++pids; /* never one again */
    procs[p].ability = ABILITY_MEMORY;
    threads[p] = (struct thread){.proc = &procs[p], .tid = 1};
    assert_int_equal(vm_map(&procs[p], &m), 0);
    pages[p] = vm_user_ptr(&procs[p], m.vaddr, sizeof(struct page), RW);
}

static struct process *payer(int pid)
{
    for (unsigned p = 0; p < PROCESSES; p++) {
        if (procs[p].pid == pid) {
            return &procs[p];
        }
    }
    return NULL;
}

static void dies(unsigned p)
{
    vm_process_gone(&procs[p]);
    object_process_gone(&procs[p]);
    assert_int_equal(procs[p].space.arch.mapped, 0);
}

static uintptr_t user(unsigned p, const void *in_page)
{
    return procs[p].space.maps[0].vaddr + (uintptr_t)((const char *)in_page - (char *)pages[p]);
}

static paddr_t user_ram(unsigned p)
{
    return procs[p].space.maps[0].phys;
}

static long call(unsigned p, long (*ker)(struct thread *, const uintptr_t *), uintptr_t a,
                 uintptr_t b, uintptr_t c)
{
    struct thread *t = &threads[p];
    long result;

    t->args[0] = a;
    t->args[1] = b;
    t->args[2] = c;
    t->step = 0;
    do {
        result = ker(t, t->args);
    } while (result == KER_AGAIN);
    return result;
}

static long open_as(unsigned p, const char *name, unsigned flags, unsigned mode)
{
    memmove(pages[p]->name, name, strlen(name) + 1);
    return call(p, ker_object_open, user(p, pages[p]->name), flags, mode);
}

static long unlink_as(unsigned p, const char *name)
{
    memmove(pages[p]->name, name, strlen(name) + 1);
    return call(p, ker_object_unlink, user(p, pages[p]->name), 0, 0);
}

static long close_of(unsigned p, long id)
{
    return call(p, ker_object_close, (uintptr_t)id, 0, 0);
}

static long size_of(unsigned p, long id, size_t size)
{
    return call(p, ker_object_size, (uintptr_t)id, size, 0);
}

static long map_of(unsigned p, long id, uint32_t prot, size_t len)
{
    struct page *page = pages[p];

    page->map =
        (struct kymo_map){.phys = (uint64_t)id, .len = len, .flags = prot | KYMO_MAP_OBJECT};
    return call(p, ker_mem_map, user(p, &page->map), 0, 0);
}

static uint8_t *at(unsigned p, uintptr_t vaddr)
{
    return vm_user_ptr(&procs[p], vaddr, 1, R);
}

static long unmap(unsigned p, uintptr_t vaddr)
{
    return call(p, ker_mem_unmap, vaddr, 0, 0);
}

static int start(void **state)
{
    (void)state;
    ram = malloc(RAM);
    memset(ram, 0x55, RAM);
    phys_init((paddr_t)ram, RAM);
    ram_init((paddr_t)ram, RAM);
    memset(objects, 0, sizeof(objects));
    fake_payer = payer;
    before = phys_available();
    for (unsigned p = 0; p < PROCESSES; p++) {
        born(p);
    }
    return 0;
}

/* All of them die: nothing but names is left, and unlinking those gives everything back. */
static int end(void **state)
{
    (void)state;
    for (unsigned p = 0; p < PROCESSES; p++) {
        dies(p);
    }
    born(0);
    procs[0].ability = ~0u;
    for (unsigned i = 0; i < CONFIG_OBJECTS; i++) {
        if (objects[i].used) {
            char name[KYMO_NAME_MAX];

            assert_true(objects[i].named && !objects[i].opens && !objects[i].maps);
            assert_int_equal(objects[i].creator, 0);
            strcpy(name, objects[i].name);
            assert_int_equal(unlink_as(0, name), 0);
        }
    }
    dies(0);
    assert_int_equal(phys_available(), before);
    free(ram);
    return 0;
}

/* Made by one, seen by another, through mappings of both; survives its maker. */
static void test_sharing(void **state)
{
    long a = open_as(0, "shared", NEW, 0644), b;

    (void)state;
    assert_true(a >= 0);
    assert_int_equal(size_of(0, a, 5000), 0);
    assert_int_equal(map_of(0, a, RW, 5000), 0);
    uintptr_t here = (uintptr_t)pages[0]->map.vaddr;
    assert_true(pages[0]->map.len >= 5000);
    assert_int_equal(pages[0]->map.phys, 0); /* that is for drivers only */
    for (size_t i = 0; i < 5000; i++) {
        assert_int_equal(at(0, here)[i], 0);
    }
    b = open_as(1, "shared", 0, 0);
    assert_int_equal(map_of(1, b, R, 0), 0);
    uintptr_t there = (uintptr_t)pages[1]->map.vaddr;
    at(0, here)[4999] = 77;
    assert_int_equal(at(1, there)[4999], 77);
    assert_null(vm_user_ptr(&procs[1], there, 1, KYMO_PROT_WRITE));
    dies(0);
    born(0);
    assert_int_equal(at(1, there)[4999], 77);
    assert_int_equal(unmap(1, there), 0);
    assert_int_equal(close_of(1, b), 0);
    b = open_as(2, "shared", 0, 0);
    assert_int_equal(map_of(2, b, R, 0), 0);
    assert_int_equal(at(2, (uintptr_t)pages[2]->map.vaddr)[4999], 77);
    assert_true(ram_held(objects[0].phys + 4999, 1));
    assert_true(ram_held(objects[0].phys - 1, 2));
    assert_true(ram_held(user_ram(3), 1));   /* a process's */
    assert_false(ram_held((paddr_t)ram, 1)); /* the allocator's own */
    paddr_t was = user_ram(3);
    dies(3);
    assert_false(ram_held(was, 1));
    born(3);
}

/* It goes with the last of name, opens and mappings, whichever that is. */
static void test_orders(void **state)
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    (void)state;
    for (unsigned n = 0; n < 12; n++) {
        long id = open_as(0, "o", NEW, 0);
        size_t free_before = phys_available();

        assert_int_equal(size_of(0, id, 4096), 0);
        assert_int_equal(map_of(0, id, RW, 0), 0);
        for (unsigned i = 0; i < 3; i++) {
            assert_true(objects[0].used && phys_available() < free_before);
            switch (orders[n % 6][i]) {
            case 0:
                assert_int_equal(unlink_as(1, "o"), 0);
                assert_int_equal(unlink_as(1, "o"), -ENOENT);
                break;
            case 1:
                assert_int_equal(close_of(0, id), 0);
                break;
            default:
                assert_int_equal(unmap(0, (uintptr_t)pages[0]->map.vaddr), 0);
                break;
            }
        }
        assert_false(objects[0].used);
        assert_int_equal(phys_available(), free_before);
    }
}

/* A name that is unlinked may be made again while the old object lives. */
static void test_same_name(void **state)
{
    long a = open_as(0, "n", NEW, 0), b;

    (void)state;
    assert_int_equal(open_as(1, "n", NEW, 0), -EEXIST);
    assert_int_equal(unlink_as(0, "n"), 0);
    b = open_as(1, "n", NEW, 0);
    assert_true(b >= 0);
    assert_int_equal(size_of(0, a, 64), 0);
    assert_int_equal(size_of(1, b, 128), 0);
    assert_int_equal(call(0, ker_object_info, (uintptr_t)a, user(0, &pages[0]->info), 0), 0);
    assert_int_equal(pages[0]->info.size, 64);
    assert_int_equal(pages[0]->info.flags, 0);
    assert_int_equal(call(1, ker_object_info, KYMO_OBJECT_AT + 1, user(1, &pages[1]->info), 0), 1);
    assert_int_equal(pages[1]->info.size, 128);
    assert_int_equal(pages[1]->info.creator, procs[1].pid);
    assert_int_equal(call(1, ker_object_info, KYMO_OBJECT_AT + 2, user(1, &pages[1]->info), 0),
                     -ENOENT);
}

/* creator, who can do all that it could, others. */
static void test_rights(void **state)
{
    (void)state;
    procs[0].ability |= ABILITY_TRACE;
    procs[1].ability |= ABILITY_TRACE | ABILITY_HOST;
    for (unsigned mode = 0; mode < 01000; mode++) {
        if (mode & 0111) {
            continue;
        }
        assert_int_equal(open_as(0, "m", NEW, mode), 0);
        for (unsigned p = 0; p < 3; p++) {
            unsigned rights = mode >> (6 - 3 * p) & 7;
            long id = open_as(p, "m", 0, 0);
            assert_int_equal(id, rights & 4 ? p == 0 : -EACCES);
            if (id >= 0) {
                assert_int_equal(size_of(p, id, 64), -EINVAL);
                assert_int_equal(close_of(p, id), 0);
            }
            id = open_as(p, "m", W, 0);
            assert_int_equal(id, rights == 6 ? p == 0 : -EACCES);
            if (id >= 0) {
                assert_int_equal(close_of(p, id), 0);
            }
        }
        assert_int_equal(unlink_as(2, "m"), -EACCES);
        assert_int_equal(unlink_as(mode % 2, "m"), 0);
        assert_int_equal(close_of(0, 0), 0);
    }
    assert_int_equal(open_as(0, "m", NEW, 0640 | KYMO_OBJECT_ABLE(ABILITY_HOST)), 0);
    assert_int_equal(open_as(1, "m", 0, 0), 0);
    assert_int_equal(open_as(2, "m", 0, 0), -EACCES);
    assert_int_equal(unlink_as(2, "m"), -EACCES);
    assert_int_equal(unlink_as(1, "m"), 0);
    procs[2].ability = ABILITY_TRACE;
    assert_int_equal(open_as(2, "m", NEW, 0), -EPERM);
}

/* An object for an ability that no process has: nobody could remove it. */
static void test_abilities(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 16; bit++) {
        bool known = ABILITY_EVERY & 1u << bit;
        long id = open_as(0, "x", NEW, 0600 | KYMO_OBJECT_ABLE(1u << bit));
        assert_int_equal(id, known ? 0 : -EINVAL);
        if (known) {
            assert_int_equal(unlink_as(0, "x"), 0);
            assert_int_equal(close_of(0, id), 0);
        }
    }
}

static void test_errors(void **state)
{
    struct page *page = pages[0];
    long id;

    (void)state;
    assert_int_equal(open_as(0, "", NEW, 0), -EINVAL);
    assert_int_equal(open_as(0, "x", 8, 0), -EINVAL);
    assert_int_equal(open_as(0, "x", NEW, 0777), -EINVAL);
    assert_int_equal(open_as(0, "x", 0, 0), -ENOENT);
    assert_int_equal(open_as(0, "123456789012345678901234567890123456789012345678", NEW, 0),
                     -ENAMETOOLONG);
    id = open_as(0, "12345678901234567890123456789012345678901234567", NEW, 0600);
    assert_int_equal(id, 0);
    assert_int_equal(call(0, ker_object_open, 8, 0, 0), -EFAULT);
    assert_int_equal(call(0, ker_object_unlink, 8, 0, 0), -EFAULT);
    assert_int_equal(call(0, ker_object_info, 0, 8, 0), -EFAULT);
    assert_int_equal(call(0, ker_object_info, 1, user(0, &page->info), 0), -EBADF);
    assert_int_equal(map_of(0, id, R, 0), -ENXIO);
    assert_int_equal(size_of(0, id, 0x40000001), -EINVAL);
    assert_int_equal(size_of(0, id, SIZE_MAX), -EINVAL);
    assert_int_equal(size_of(0, id, 2 * RAM), -ENOMEM);
    assert_int_equal(size_of(0, 1, 64), -EBADF);
    assert_int_equal(size_of(0, 1000, 64), -EBADF);
    assert_int_equal(size_of(0, id, 300), 0);
    assert_int_equal(size_of(0, id, 300), 0);
    assert_int_equal(size_of(0, id, 1), 0);
    assert_int_equal(size_of(0, id, 320), 0); /* within the memory, whose granule is 64 */
    assert_int_equal(objects[0].size, 320);
    assert_int_equal(size_of(0, id, 321), -EBUSY);
    assert_int_equal(map_of(0, id, R, 1000), -ENXIO);
    assert_int_equal(map_of(0, id, KYMO_PROT_WRITE, 0), -EINVAL);
    assert_int_equal(map_of(0, id, R | KYMO_PROT_EXEC, 0), -EINVAL);
    assert_int_equal(map_of(0, id, R | KYMO_MAP_STACK, 0), -EINVAL);
    assert_int_equal(map_of(0, 77, R, 0), -EBADF);
    assert_int_equal(map_of(0, -1, R, 0), -EBADF);
    fake_map_error = -ENOMEM;
    assert_int_equal(map_of(0, id, R, 0), -ENOMEM);
    fake_map_error = 0;
    assert_int_equal(objects[0].maps, 0);
    assert_int_equal(map_of(0, id, RW, 0), 0);
    uintptr_t where = (uintptr_t)page->map.vaddr;
    assert_int_equal(map_of(0, id, R, 0), -EBUSY);
    assert_int_equal(size_of(0, id, 0), -EBUSY);
    assert_int_equal(unmap(0, where), 0);
    assert_int_equal(size_of(0, id, 0), 0);
    assert_int_equal(objects[0].phys, 0);
    assert_int_equal(size_of(0, id, 301), 0);
    objects[0].tracing = true;
    assert_int_equal(map_of(0, id, RW, 0), -EBUSY);
    assert_int_equal(size_of(0, id, 0), -EBUSY);
    assert_int_equal(map_of(0, id, R, 0), 0);
    objects[0].tracing = false;
    assert_int_equal(close_of(0, id), 0);
    assert_int_equal(close_of(0, id), -EBADF);
    id = open_as(0, page->name, 0, 0);
    assert_int_equal(unmap(0, (uintptr_t)page->map.vaddr), 0);
    assert_int_equal(map_of(0, id, RW, 0), -EACCES);
}

static void test_tables(void **state)
{
    char name[2] = "a";

    (void)state;
    for (unsigned i = 0; i < CONFIG_OBJECTS; i++, name[0]++) {
        assert_int_equal(open_as(i % 2, name, NEW, 0666), i / 2);
    }
    assert_int_equal(open_as(3, name, NEW, 0), -EAGAIN);
    for (unsigned i = 0; i < CONFIG_OBJECTS_PER_PROCESS; i++) {
        assert_int_equal(open_as(2, "a", 0, 0), i);
    }
    assert_int_equal(open_as(2, "a", 0, 0), -EMFILE);
    assert_int_equal(close_of(2, 3), 0);
    assert_int_equal(open_as(2, "b", 0, 0), 3);
}

/* A thread that clears dies, or its object is closed: another goes on with it. */
static void test_half_cleared(void **state)
{
    long id = open_as(0, "half", NEW, 0666), other = open_as(1, "half", W, 0);
    struct thread *t = &threads[0];

    (void)state;
    t->args[0] = (uintptr_t)id;
    t->args[1] = 5 * CONFIG_COPY_CHUNK;
    assert_int_equal(ker_object_size(t, t->args), KER_AGAIN);
    assert_int_equal(ker_object_size(t, t->args), KER_AGAIN);
    assert_int_equal(map_of(1, other, R, 0), -ENXIO);
    assert_int_equal(close_of(0, id), 0);
    assert_int_equal(ker_object_size(t, t->args), -EBADF);
    assert_int_equal(size_of(1, other, 4 * CONFIG_COPY_CHUNK), -EBUSY);
    assert_int_equal(size_of(1, other, 5 * CONFIG_COPY_CHUNK), 0);
    assert_int_equal(map_of(1, other, R, 0), 0);
    uint8_t *bytes = at(1, (uintptr_t)pages[1]->map.vaddr);
    for (size_t i = 0; i < 5 * CONFIG_COPY_CHUNK; i++) {
        assert_int_equal(bytes[i], 0);
    }
}

/* The event log's buffers in one: kept without name and users until they are freed. */
static void test_traced_into(void **state)
{
    long id = open_as(0, "t", NEW, 0666), reader = open_as(1, "t", 0, 0);
    size_t free_before = phys_available();

    (void)state;
    assert_int_equal(object_offer(&procs[0], (uintptr_t)id, 640), -ENXIO);
    assert_int_equal(size_of(0, id, 640), 0);
    assert_int_equal(object_offer(&procs[0], 7, 640), -EBADF);
    assert_int_equal(object_offer(&procs[1], (uintptr_t)reader, 640), -EACCES);
    assert_int_equal(object_offer(&procs[0], (uintptr_t)id, 641), -EINVAL);
    assert_int_equal(object_offer(&procs[0], (uintptr_t)id, 576), -EINVAL);
    assert_int_equal(map_of(1, reader, R, 0), 0);
    uintptr_t where = (uintptr_t)pages[1]->map.vaddr;
    assert_int_equal(object_offer(&procs[0], (uintptr_t)id, 640), -EBUSY);
    assert_int_equal(unmap(1, where), 0);
    assert_int_equal(object_trace_begin(640), 0);
    assert_int_equal(object_offer(&procs[0], (uintptr_t)id, 640), 0);
    assert_int_equal(object_trace_begin(64), 0);
    paddr_t block = object_trace_begin(640);
    assert_int_equal(block, objects[0].phys);
    assert_int_equal(object_trace_begin(640), 0);
    object_offer_end();
    assert_int_equal(map_of(0, id, RW, 0), -EBUSY);
    assert_int_equal(map_of(1, reader, R, 0), 0);
    assert_int_equal(unlink_as(0, "t"), 0);
    dies(0);
    born(0);
    dies(1);
    born(1);
    assert_true(objects[0].used);
    assert_false(object_trace_end(block + 64));
    assert_true(object_trace_end(block));
    assert_false(object_trace_end(block));
    assert_false(objects[0].used);
    assert_int_equal(phys_available(), free_before);
}

static void random_step(unsigned p)
{
    char name[2] = {(char)('a' + random_below(5)), 0};
    long id = (long)random_below(CONFIG_OBJECTS_PER_PROCESS + 1);

    switch (random_below(8)) {
    case 0:
    case 1:
        open_as(p, name, random_below(8), random_below(01000) & 0666);
        break;
    case 2:
        close_of(p, id);
        break;
    case 3:
        size_of(p, id, random_below(3) ? random_below(200000) : 0);
        break;
    case 4:
    case 5:
        map_of(p, id, random_below(8), random_below(100000));
        break;
    case 6:
        unmap(p, procs[p].space.maps[random_below(CONFIG_MAPPINGS - 1) + 1].vaddr);
        break;
    default:
        unlink_as(p, name);
        break;
    }
    if (random_below(50) == 0) {
        dies(p);
        born(p);
        procs[p].ability |= random_below(4);
    }
}

/* What the table says is what the processes have; no object has another's memory, and all of what
 * is taken is somebody's. */
static void look(void)
{
    size_t taken = 0;

    for (unsigned i = 0; i < CONFIG_OBJECTS; i++) {
        unsigned opens = 0, maps = 0;

        for (unsigned p = 0; p < PROCESSES; p++) {
            for (unsigned n = 0; n < CONFIG_OBJECTS_PER_PROCESS; n++) {
                opens += (procs[p].objects[n] & OBJECT_NUMBER) == i + 1;
            }
            for (unsigned n = 0; n < procs[p].space.nmaps; n++) {
                const struct mapping *m = vm_nth(&procs[p].space, n);
                maps += (m->flags & KYMO_MAP_OBJECT) && m->phys == objects[i].phys;
            }
        }
        assert_int_equal(opens, objects[i].used ? objects[i].opens : 0);
        assert_int_equal(maps, objects[i].used ? objects[i].maps : 0);
        assert_true(!objects[i].used || opens || maps || objects[i].named);
        assert_true(objects[i].used || !objects[i].phys);
        taken += objects[i].phys ? (objects[i].len + 255) & ~(size_t)255 : 0;
    }
    size_t pages_taken = PROCESSES * ((sizeof(struct page) + 255) & ~(size_t)255);
    assert_int_equal(phys_available() + taken + pages_taken, before);
}

static void test_random(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 30000; n++) {
        random_step(random_below(PROCESSES));
        look();
    }
}

/* What is mapped must be allowed, not only what was asked for. */
static void test_device(void **state)
{
    struct kymo_map *map = &pages[0]->map;
    size_t rounded, align;

    (void)state;
    procs[0].ability |= ABILITY_DEVICE;
    device = (paddr_t)(uintptr_t)ram;
    assert_int_equal(arch_map_shape(1, RW, &rounded, &align), 0);
    assert_true(rounded > 1);
    for (device_len = rounded - 1; device_len <= rounded; device_len++) {
        *map = (struct kymo_map){.phys = device, .len = 1, .flags = RW | KYMO_MAP_DEVICE};
        assert_int_equal(call(0, ker_mem_map, user(0, map), 0, 0),
                         device_len < rounded ? -EPERM : 0);
    }
    assert_int_equal(unmap(0, (uintptr_t)map->vaddr), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, start, end)
    const struct CMUnitTest tests[] = {
        TEST(sharing),     TEST(orders), TEST(same_name), TEST(rights),
        TEST(abilities),   TEST(errors), TEST(tables),    TEST(half_cleared),
        TEST(traced_into), TEST(random), TEST(device),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

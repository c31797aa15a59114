/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apps/pci/pci.c and apps/virtio/virtio_pci.c against a device that says anything about itself:
 * lists of capabilities in a circle, structures outside of the device's memory, of no length or of
 * one that wraps, queues that are notified elsewhere, tables of messages that are too long. Mapped
 * memory is of its very length, so that ASan sees an access beside it; each mapping must lie in the
 * pages of a range that the function has. KYMO_SEED=n repeats the random part.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "abi/sys/kymo.h"
#include "apps/pci/pci.h"
#include "apps/virtio/transport.h"

#define BLOCK 2
#define PAGE 4096u
#define BAR_START 0xfe000000ull
#define BAR_LEN 0x4000u
#define LINE 130
#define ROUNDS 30000

static struct kymo_pci_table table;
static struct kymo_pci_function *const f = table.functions;
static uint8_t *mapped[64]; /* copies of the device's memory, one a mapping */
static unsigned mappings;
static uint8_t contents[BAR_LEN]; /* of the device's memory, as it is mapped */

int MemMap(struct kymo_map *map)
{
    if (map->phys == KYMO_PCI_TABLE) {
        map->vaddr = (uintptr_t)&table;
        return 0;
    }
    assert_true(map->phys % PAGE == 0 && map->flags & KYMO_MAP_DEVICE);
    const uint64_t offset = map->phys - BAR_START;
    assert_true(offset < BAR_LEN && map->len > 0 && map->len <= BAR_LEN - offset);
    assert_true(mappings < sizeof(mapped) / sizeof(mapped[0]));
    uint8_t *copy = malloc(map->len);
    memcpy(copy, contents + offset, map->len);
    mapped[mappings++] = copy;
    map->vaddr = (uintptr_t)copy;
    return 0;
}

static void unmap_all(void)
{
    while (mappings > 0) {
        free(mapped[--mappings]);
    }
}

static void put(unsigned at, uint64_t value, unsigned bytes)
{
    memcpy(f->config + at, &value, bytes);
}

static void structure(unsigned at, unsigned next, unsigned kind, uint32_t offset, uint32_t bytes)
{
    put(at, 9 | next << 8 | 20 << 16 | kind << 24, 4);
    put(at + 4, 4, 4);
    put(at + 8, offset, 4);
    put(at + 12, bytes, 4);
    put(at + 16, 4, 4);
}

/* As QEMU's is. */
static int begin(void **state)
{
    (void)state;
    memset(&table, 0, sizeof(table));
    memset(contents, 0, sizeof(contents));
    table.magic = KYMO_PCI_MAGIC;
    table.count = 1;
    f->line = LINE;
    f->message = KYMO_PCI_MSIX;
    f->capability = 0x98;
    f->msi_address = 0xfee00000;
    f->msi_data = 0xb2;
    f->bars[4] = (struct kymo_pci_bar){BAR_START, BAR_LEN};
    put(0, 0x10421af4, 4);
    f->config[6] = 0x10;
    f->config[0x34] = 0x98;
    put(0x98, 0x11 | 0x40 << 8 | 1 << 16, 4);
    put(0x9c, 0x3000 | 4, 4);
    structure(0x40, 0x54, 1, 0, 0x1000);
    structure(0x54, 0x68, 3, 0x1000, 0x1000);
    structure(0x68, 0x7c, 4, 0x2000, 0x800);
    structure(0x7c, 0, 2, 0x2800, 0x800);
    contents[4] = 1 | 0x20;  /* features, of both words */
    contents[24] = 128;      /* a queue's size */
    contents[30] = 1;        /* where it is notified */
    contents[0x2000] = 0x55; /* the device's configuration */
    return 0;
}

static int end(void **state)
{
    (void)state;
    unmap_all();
    return 0;
}

/* All that a driver does. Returns whether the device could be used. */
static bool drive(void)
{
    static uint8_t memory[VIRTIO_QUEUE_BYTES(64)] __attribute__((aligned(4096)));
    struct virtio_device device = {0};
    struct virtio_queue queue = {.device = &device, .to_device = true};

    if (!virtio_find(&device, BLOCK)) {
        assert_int_equal(errno, ENODEV);
        return false;
    }
    assert_int_equal(device.interrupt, LINE);
    for (unsigned at = 0; at < 100; at++) {
        (void)virtio_config(&device, at);
    }
    (void)virtio_config(&device, 0x3fffffff);
    (void)virtio_config(&device, UINT32_MAX);
    if (!virtio_begin(&device, 0, 0x20) || !virtio_queue_begin(&queue, memory, 0x1000, 64)) {
        return false;
    }
    virtio_ready(&device);
    virtio_queue_notify(&queue);
    return true;
}

static void a_device_as_it_should_be(void **state)
{
    struct virtio_device device = {0};

    (void)state;
    assert_true(virtio_find(&device, BLOCK));
    assert_int_equal(virtio_config(&device, 0), 0x55);
    assert_int_equal(virtio_config(&device, 0x800 / 4), 0);
    const uint32_t *entry = (const void *)mapped[mappings - 1];
    for (unsigned i = 0; i < 2; i++, entry += 4) {
        assert_true(entry[0] == 0xfee00000 && entry[1] == 0 && entry[2] == 0xb2 && entry[3] == 0);
    }
    assert_true(drive());
    put(0, 0x10011af4, 4); /* as it says it to drivers of before version 1 */
    put(0x2e, BLOCK, 2);
    assert_true(drive());
}

static void another_device(void **state)
{
    (void)state;
    put(0, 0x10431af4, 4);
    assert_false(drive());
    put(0, 0x10428086, 4);
    assert_false(drive());
    begin(NULL);
    f->line = KYMO_PCI_NO_LINE;
    assert_false(drive());
    begin(NULL);
    table.count = 0;
    assert_false(drive());
    begin(NULL);
    table.magic = 0;
    assert_false(drive());
    begin(NULL);
    table.count = KYMO_PCI_FUNCTIONS + 1;
    assert_false(drive());
}

static void lists_in_a_circle(void **state)
{
    (void)state;
    f->config[0x41] = 0x98;
    assert_false(drive());
    f->config[0x41] = 0x40;
    assert_false(drive());
    f->config[0x41] = 0xff; /* the last word, which is no capability */
    f->config[0xfc] = 9;
    f->config[0xfd] = 0xfc;
    assert_false(drive());
    begin(NULL);
    f->config[6] = 0; /* it says that it has no list */
    assert_false(drive());
}

static void structures_outside_of_the_memory(void **state)
{
    static const struct {
        unsigned at;
        uint32_t value;
    } bad[] = {
        {0x44, 3},          {0x44, 6},
        {0x44, 255}, /* in a range that it hasn't */
        {0x48, BAR_LEN},    {0x48, BAR_LEN - 52},
        {0x48, 0xfffffffc}, {0x48, 2},
        {0x4c, 55},         {0x74, BAR_LEN - 0x2000 + 1},
        {0x74, 0},          {0x74, UINT32_MAX},
        {0x70, 0xfffff000}, {0x88, 0},
        {0x88, UINT32_MAX}, {0x84, 0x10000},
        {0x9c, 0x3ff0 | 4}, {0x9c, 0xfffffff0 | 4},
        {0x9c, 7},                                          /* the table of messages */
        {0x98, 0x07ff4011}, {0x7c, 9 | 16 << 16 | 2 << 24}, /* it doesn't say where */
        {0x8c, 0xffffffff}, {0x8c, 0x7ff},
        {0x8c, 1}, /* where queues are notified */
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        begin(NULL);
        put(bad[i].at, bad[i].value, 4);
        assert_false(drive());
        unmap_all();
    }
}

static void a_device_that_does_not_take_what_it_is_told(void **state)
{
    (void)state;
    contents[4] = 0x20; /* not version 1 */
    assert_false(drive());
    begin(NULL);
    contents[24] = VIRTIO_BUFFERS - 1;
    assert_false(drive());
    begin(NULL);
    contents[30] = 0xff;
    contents[31] = 0xff;
    assert_false(drive());
}

static void devices_at_random(void **state)
{
    const char *given = getenv("KYMO_SEED");
    const unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    unsigned used = 0;

    (void)state;
    printf("KYMO_SEED=%u\n", seed);
    fflush(stdout);
    srand(seed);
    for (unsigned i = 0; i < ROUNDS; i++) {
        begin(NULL);
        for (unsigned n = (unsigned)rand() % 6; n > 0; n--) {
            f->config[4 + (unsigned)rand() % 252] = (uint8_t)(rand() % 2 ? rand() : rand() % 8);
        }
        contents[16 + rand() % 16] = (uint8_t)rand();
        used += drive();
        unmap_all();
    }
    assert_true(used > 0 && used < ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_device_as_it_should_be, begin, end),
        cmocka_unit_test_setup_teardown(another_device, begin, end),
        cmocka_unit_test_setup_teardown(lists_in_a_circle, begin, end),
        cmocka_unit_test_setup_teardown(structures_outside_of_the_memory, begin, end),
        cmocka_unit_test_setup_teardown(a_device_that_does_not_take_what_it_is_told, begin, end),
        cmocka_unit_test_setup_teardown(devices_at_random, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

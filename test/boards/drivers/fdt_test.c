/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boards/drivers/fdt.c: reads a sound device tree, and survives a damaged one. Built with ASan and
 * UBSan; each blob is a heap block of its exact size, so a byte read outside is found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "boards/drivers/fdt.h"

#define HEADER 40
#define STRUCTURE_MAX 1024
#define ROUNDS 300000

static const char strings[] = "#address-cells\0#size-cells\0reg";
enum { S_ADDRESS = 0, S_SIZE = 15, S_REG = 27 };

struct builder {
    uint8_t bytes[HEADER + STRUCTURE_MAX + sizeof(strings)];
    uint32_t at;
};

static void put(struct builder *b, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        b->bytes[b->at++] = (uint8_t)(value >> shift);
    }
}

static void begin(struct builder *b, const char *name)
{
    size_t len = strlen(name) + 1;

    put(b, 1);
    memcpy(b->bytes + b->at, name, len);
    b->at += (uint32_t)((len + 3) & ~(size_t)3);
}

static void prop(struct builder *b, uint32_t name, const uint32_t *cells, unsigned count)
{
    put(b, 3);
    put(b, count * 4);
    put(b, name);
    for (unsigned i = 0; i < count; i++) {
        put(b, cells[i]);
    }
}

static void cpu(struct builder *b, const char *name, uint32_t reg)
{
    begin(b, name);
    prop(b, S_REG, &reg, 1);
    put(b, 2);
}

/* A tree with 1 GB of RAM at 1 GB and `cpus` CPUs. Returns its bytes. */
static uint32_t build(struct builder *b, unsigned cpus)
{
    const uint32_t one = 1, two = 2, ram[] = {0, 0x40000000, 0, 0x40000000};
    const uint32_t mmio[] = {0, 0x09000000, 0, 0x1000};

    memset(b, 0, sizeof(*b));
    b->at = HEADER;
    begin(b, "");
    prop(b, S_ADDRESS, &two, 1);
    prop(b, S_SIZE, &two, 1);
    begin(b, "cpus");
    prop(b, S_ADDRESS, &one, 1);
    begin(b, "cpu-map");
    put(b, 2);
    for (unsigned i = 0; i < cpus; i++) {
        cpu(b, "cpu@0", 0x100 + i);
    }
    put(b, 2);
    begin(b, "memory@40000000");
    prop(b, S_REG, ram, 4);
    put(b, 2);
    begin(b, "uart@9000000");
    prop(b, S_REG, mmio, 4);
    put(b, 4);
    put(b, 2);
    put(b, 2);
    put(b, 9);

    uint32_t structure = b->at - HEADER, total = b->at + (uint32_t)sizeof(strings);
    const uint32_t header[] = {0xd00dfeed, total, HEADER, b->at,           HEADER,
                               17,         16,    0,      sizeof(strings), structure};
    memcpy(b->bytes + b->at, strings, sizeof(strings));
    b->at = 0;
    for (unsigned i = 0; i < 10; i++) {
        put(b, header[i]);
    }
    return total;
}

static void test_sound(void **state)
{
    struct builder b;
    struct fdt_facts facts;
    uint32_t total = build(&b, 3);

    (void)state;
    assert_true(fdt_read(b.bytes, total, &facts));
    assert_true(facts.ram_start == 0x40000000 && facts.ram_len == 0x40000000);
    assert_int_equal(facts.cpus, 3);
    assert_true(facts.cpu_reg[2] == 0x102);
}

static void test_many_cpus(void **state)
{
    struct builder b;
    struct fdt_facts facts;
    uint32_t total = build(&b, FDT_MAX_CPUS + 3);

    (void)state;
    assert_true(fdt_read(b.bytes, total, &facts));
    assert_int_equal(facts.cpus, FDT_MAX_CPUS);
}

static void test_cut_off(void **state)
{
    struct builder b;
    struct fdt_facts facts;
    uint32_t total = build(&b, 2);

    (void)state;
    for (uint32_t len = 0; len < total; len++) {
        uint8_t *blob = malloc(len ? len : 1);
        memcpy(blob, b.bytes, len);
        assert_false(fdt_read(blob, len, &facts));
        assert_true(facts.ram_len == 0 && facts.cpus == 0);
        free(blob);
    }
}

static void test_damaged(void **state)
{
    struct builder b;
    struct fdt_facts facts;
    uint32_t total = build(&b, 4);
    uint8_t *blob = malloc(total);

    (void)state;
    srand(1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        memcpy(blob, b.bytes, total);
        for (int n = 1 + rand() % 4; n > 0; n--) {
            blob[rand() % total] = rand() % 2 ? (uint8_t)rand() : 0xff;
        }
        if (!fdt_read(blob, total, &facts)) {
            assert_true(facts.ram_len == 0 && facts.cpus == 0);
        }
        assert_true(facts.cpus <= FDT_MAX_CPUS);
    }
    free(blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_many_cpus),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

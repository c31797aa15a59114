/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boards/drivers/acpi.c: CPUs of tables as firmware leaves them, of faulty ones, and of random
 * bytes; nothing is read that was not asked to be mapped. Built with ASan and UBSan. KYMO_SEED=n
 * repeats the random part.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "boards/drivers/acpi.h"

#define MEMORY 0x100000u /* what a BIOS sees */
#define RSDP 0xf0010u
#define RSDT 0x8000u
#define XSDT 0x9000u
#define MADT 0xa000u
#define OTHER 0xb000u
#define ROUNDS 3000

static uint8_t memory[MEMORY];
/* Each mapping is a copy of its very size, so that ASan sees what is read after it. */
static void *mapped[4096];
static unsigned mappings;

static uintptr_t map(uintptr_t pa, size_t len)
{
    if (pa >= MEMORY || len > MEMORY - pa || mappings == sizeof(mapped) / sizeof(*mapped)) {
        return 0;
    }
    void *copy = malloc(len);
    memcpy(copy, memory + pa, len);
    mapped[mappings++] = copy;
    return (uintptr_t)copy;
}

static struct acpi_facts read_facts(uint64_t rsdp, bool expected)
{
    struct acpi_facts facts;

    assert_int_equal(acpi_read(rsdp, map, &facts), expected);
    while (mappings > 0) {
        free(mapped[--mappings]);
    }
    return facts;
}

static void put(uint32_t at, uint64_t value, unsigned bytes)
{
    memcpy(memory + at, &value, bytes);
}

/* The byte at `sum` makes those from `at` on add up to 0. */
static void seal(uint32_t at, uint32_t bytes, uint32_t sum)
{
    uint8_t all = 0;

    memory[sum] = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        all = (uint8_t)(all + memory[at + i]);
    }
    memory[sum] = (uint8_t)-all;
}

static void table(uint32_t at, const char *signature, uint32_t bytes)
{
    memcpy(memory + at, signature, 4);
    put(at + 4, bytes, 4);
    seal(at, bytes, at + 9);
}

static uint32_t madt_end;

static void madt_begin(void)
{
    memset(memory, 0, sizeof(memory));
    madt_end = MADT + 44;
}

static void cpu(uint8_t apic, uint32_t flags)
{
    put(madt_end, 0x0800, 2); /* type 0, 8 bytes */
    memory[madt_end + 3] = apic;
    put(madt_end + 4, flags, 4);
    madt_end += 8;
}

static void cpu_x2(uint32_t apic, uint32_t flags)
{
    put(madt_end, 0x1009, 4); /* type 9, 16 bytes */
    put(madt_end + 4, apic, 4);
    put(madt_end + 8, flags, 4);
    put(madt_end + 12, 0, 4);
    madt_end += 16;
}

static void roots(unsigned revision)
{
    table(MADT, "APIC", madt_end - MADT);
    table(OTHER, "FACP", 36);
    put(RSDT + 36, OTHER, 4);
    put(RSDT + 40, MADT, 4);
    table(RSDT, "RSDT", 44);
    put(XSDT + 36, OTHER, 8);
    put(XSDT + 44, MADT, 8);
    table(XSDT, "XSDT", 52);
    memcpy(memory + RSDP, "RSD PTR ", 8);
    memory[RSDP + 15] = (uint8_t)revision;
    put(RSDP + 16, RSDT, 4);
    put(RSDP + 20, 36, 4);
    put(RSDP + 24, revision >= 2 ? XSDT : 0, 8);
    seal(RSDP, 20, RSDP + 8);
}

static void is(struct acpi_facts facts, unsigned cpus, const uint32_t *apic)
{
    assert_int_equal(facts.cpus, cpus);
    assert_memory_equal(facts.apic, apic,
                        (cpus < ACPI_MAX_CPUS ? cpus : ACPI_MAX_CPUS) * sizeof(*apic));
}

static void test_cpus(void **state)
{
    (void)state;
    for (unsigned revision = 0; revision <= 2; revision += 2) {
        madt_begin();
        cpu(4, 1);
        cpu(0, 1);
        cpu(9, 0);    /* not enabled */
        cpu(0xff, 1); /* no CPU's own */
        cpu(7, 1);
        roots(revision);
        is(read_facts(RSDP, true), 3, (const uint32_t[]){4, 0, 7});
        is(read_facts(0, true), 3, (const uint32_t[]){4, 0, 7}); /* found where a BIOS leaves it */
        is(read_facts(RSDP + 4, true), 3, (const uint32_t[]){4, 0, 7}); /* the loader was wrong */
    }
}

/* Those of x2APIC stand after the others, or alone; one that is said both ways counts once. */
static void test_x2(void **state)
{
    (void)state;
    madt_begin();
    cpu(2, 1);
    cpu_x2(2, 1);
    cpu_x2(255, 1);
    cpu_x2(0x10000, 1);
    cpu_x2(0x20000, 0);    /* not enabled */
    cpu_x2(UINT32_MAX, 1); /* no CPU's own */
    roots(2);
    is(read_facts(RSDP, true), 3, (const uint32_t[]){2, 255, 0x10000});
    madt_begin();
    cpu_x2(1, 1);
    put(madt_end, 0x0809, 4); /* too short for what it says */
    madt_end += 8;
    roots(2);
    is(read_facts(RSDP, true), 1, (const uint32_t[]){1});
}

static void test_one_twice(void **state)
{
    (void)state;
    madt_begin();
    cpu(0, 1);
    cpu(2, 1);
    cpu(2, 1);
    cpu(0, 1);
    cpu(3, 1);
    roots(2);
    is(read_facts(RSDP, true), 3, (const uint32_t[]){0, 2, 3});
}

static void test_more_than_the_kernel_has(void **state)
{
    (void)state;
    madt_begin();
    for (unsigned i = 0; i < 40; i++) {
        cpu((uint8_t)i, 1);
    }
    roots(2);
    is(read_facts(RSDP, true), 40, (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7});
}

/* An entry that ends beyond its table, or nowhere, ends the table; damage of any other byte is
 * noticed by the sums. */
static void test_faulty(void **state)
{
    (void)state;
    for (unsigned length = 0; length < 256; length++) {
        madt_begin();
        cpu(1, 1);
        cpu(2, 1);
        memory[madt_end - 7] = (uint8_t)length;
        roots(2);
        is(read_facts(RSDP, true), length == 8 ? 2 : 1, (const uint32_t[]){1, 2});
    }
    const struct {
        uint32_t at, bytes;
    } sealed[] = {{MADT, 60}, {XSDT, 52}, {RSDP, 20}};
    for (unsigned i = 0; i < 3; i++) {
        for (uint32_t at = 0; at < sealed[i].bytes; at++) {
            memory[sealed[i].at + at] ^= 0x10;
            read_facts(RSDP, false);
            memory[sealed[i].at + at] ^= 0x10;
        }
    }
    is(read_facts(RSDP, true), 1, (const uint32_t[]){1});
}

/* Sums are right, all else is anything: nothing is read outside, and no CPU comes twice. */
static void test_random(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        madt_begin();
        for (unsigned n = (unsigned)rand() % 30; n > 0; n--) {
            cpu((uint8_t)(rand() % 12), (uint32_t)rand());
        }
        for (unsigned n = (unsigned)rand() % 10; n > 0; n--) {
            cpu_x2((uint32_t)rand() % 300, (uint32_t)rand());
        }
        for (unsigned n = (unsigned)rand() % 6; n > 0; n--) {
            memory[MADT + 44 + (unsigned)rand() % 300] = (uint8_t)rand();
        }
        madt_end += (unsigned)rand() % 20;
        roots((unsigned)rand() % 3);
        struct acpi_facts facts;
        acpi_read(rand() % 2 ? RSDP : 0, map, &facts);
        while (mappings > 0) {
            free(mapped[--mappings]);
        }
        for (unsigned i = 0; i < facts.cpus && i < ACPI_MAX_CPUS; i++) {
            for (unsigned j = 0; j < i; j++) {
                assert_int_not_equal(facts.apic[i], facts.apic[j]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpus),      cmocka_unit_test(test_x2),
        cmocka_unit_test(test_one_twice), cmocka_unit_test(test_more_than_the_kernel_has),
        cmocka_unit_test(test_faulty),    cmocka_unit_test(test_random),
    };
    const char *given = getenv("KYMO_SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);

    printf("KYMO_SEED=%u\n", seed);
    fflush(stdout);
    srand(seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

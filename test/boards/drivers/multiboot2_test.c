/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boards/drivers/multiboot2.c: RAM in pieces of any order, screens that can't be drawn on, and
 * bytes of all kinds, of which none is read that isn't there. Built with ASan and UBSan.
 * KYMO_SEED=n repeats the random part.
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

#include "boards/drivers/multiboot2.h"

#define MB 0x100000ull
#define KERNEL (10 * MB)
#define MOST 4096
#define ROUNDS 20000

static uint8_t info[MOST] __attribute__((aligned(8)));
static uint32_t used;

static void put32(uint32_t value)
{
    memcpy(info + used, &value, 4);
    used += 4;
}

static void put64(uint64_t value)
{
    put32((uint32_t)value);
    put32((uint32_t)(value >> 32));
}

static void begin(void)
{
    memset(info, 0, sizeof(info));
    used = 0;
    put64(0);
}

static struct multiboot2 end(void)
{
    used = (used + 7) & ~7u;
    put32(0);
    put32(8);
    memcpy(info, &used, 4);
    /* Of its very size, so that ASan sees what is read after. */
    void *copy = aligned_alloc(8, used);
    memcpy(copy, info, used);
    struct multiboot2 found = multiboot2_read(copy, used, KERNEL);
    free(copy);
    return found;
}

struct piece {
    uint64_t start, end;
    uint32_t type;
};

static struct multiboot2 map(const struct piece *pieces, unsigned count)
{
    begin();
    put32(6);
    put32(16 + 24 * count);
    put32(24);
    put32(0);
    for (unsigned i = 0; i < count; i++) {
        put64(pieces[i].start);
        put64(pieces[i].end - pieces[i].start);
        put32(pieces[i].type);
        put32(0);
    }
    return end();
}

static void ram_is_joined(void **state)
{
    const struct piece pieces[] = {
        {40 * MB, 50 * MB, 1}, {0, 640 << 10, 1},   {12 * MB, 20 * MB, 1}, {9 * MB, 12 * MB, 1},
        {1 * MB, 8 * MB, 1},   {8 * MB, 9 * MB, 4}, {20 * MB, 39 * MB, 1}};

    (void)state;
    struct multiboot2 found = map(pieces, 7);
    assert_true(found.ram.start == 9 * MB && found.ram.len == 30 * MB);
}

static void ram_without_the_kernel_is_none(void **state)
{
    const struct piece around[] = {{1 * MB, KERNEL, 1}, {KERNEL + 4096, 20 * MB, 1}};
    const struct piece taken[] = {{1 * MB, 20 * MB, 2}};
    const struct piece wraps[] = {{1 * MB, MB / 2, 1}};

    (void)state;
    assert_int_equal(map(around, 2).ram.len, 0);
    assert_int_equal(map(taken, 1).ram.len, 0);
    assert_int_equal(map(wraps, 1).ram.len, 0);
    assert_int_equal(map(taken, 0).ram.len, 0);
}

/* By another way: which pages are RAM, and how far one gets from the kernel's. */
static void random_maps(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct piece pieces[12];
        unsigned count = (unsigned)rand() % 12;
        uint8_t is_ram[64] = {0};

        for (unsigned i = 0; i < count; i++) {
            uint64_t start = (uint64_t)rand() % 30, len = 1 + (uint64_t)rand() % 8;
            pieces[i] = (struct piece){start * MB, (start + len) * MB, 1 + (rand() % 4 == 0)};
            for (uint64_t at = start; pieces[i].type == 1 && at < start + len; at++) {
                is_ram[at] = 1;
            }
        }
        uint64_t low = KERNEL / MB, high = low;
        while (is_ram[high]) {
            high++;
        }
        while (high > KERNEL / MB && low > 0 && is_ram[low - 1]) {
            low--;
        }
        struct multiboot2 found = map(pieces, count);
        assert_true(found.ram.len == (high - low) * MB);
        assert_true(found.ram.len == 0 || found.ram.start == low * MB);
    }
}

static struct multiboot2 screen(uint64_t start, uint32_t pitch, uint32_t width, uint32_t height,
                                uint8_t bits, uint8_t kind)
{
    begin();
    put32(8);
    put32(38);
    put64(start);
    put32(pitch);
    put32(width);
    put32(height);
    put32(bits | kind << 8);
    put32(16 | 8 << 8 | 8 << 16 | 8u << 24); /* red, green */
    put32(0 | 8 << 8);
    return end();
}

static void screens(void **state)
{
    (void)state;
    struct multiboot2_screen it = screen(0x4000000000, 4096, 1024, 768, 32, 1).screen;
    assert_true(it.start == 0x4000000000 && it.pitch == 4096 && it.width == 1024 &&
                it.height == 768 && it.red == 16 && it.green == 8 && it.blue == 0);
    assert_int_equal(screen(0xb8000, 160, 80, 25, 16, 2).screen.width, 0); /* text */
    assert_int_equal(screen(0xa0000, 3072, 1024, 768, 24, 1).screen.width, 0);
    assert_int_equal(screen(0xa0000, 4095, 1024, 768, 32, 1).screen.width, 0);
    assert_int_equal(screen(UINT64_MAX - 3, 4096, 1024, 768, 32, 1).screen.width, 0);
    assert_int_equal(screen(0xa0000, 4096, 1024, 0, 32, 1).screen.width, 0);
}

static void modules_and_tables(void **state)
{
    (void)state;
    begin();
    put32(14); /* the old root pointer */
    put32(8 + 20);
    used += 20 + 4;
    put32(3);
    put32(20);
    put32(0x5000);
    put32(0x6000);
    used += 4 + 4;
    put32(15);
    put32(8 + 36);
    used += 36;
    struct multiboot2 found = end();
    assert_int_equal(found.module.start, 0x5000);
    assert_int_equal(found.module.len, 0x1000);
    assert_int_equal(found.rsdp, 8 + 32 + 24 + 8);
}

/* A good one with some bytes changed, and cut; numbers are mostly small, so that tags are found. */
static void bytes_of_all_kinds(void **state)
{
    const struct piece pieces[] = {{0, 1 * MB, 1}, {1 * MB, 64 * MB, 1}, {64 * MB, 65 * MB, 2}};

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        screen(0xfd000000, 4096, 1024, 768, 32, 1);
        uint32_t whole = used - 8;
        used = whole;
        uint8_t kept[64];
        memcpy(kept, info + 8, whole - 8);
        map(pieces, 3);
        used -= 8;
        memcpy(info + used, kept, whole - 8);
        used += whole;
        uint32_t len = round % 3 ? used : (uint32_t)rand() % (used + 1),
                 all = round % 5 ? len : MOST;
        memcpy(info, &all, 4);
        for (int i = rand() % 6; i > 0; i--) {
            info[(uint32_t)rand() % used] = (uint8_t)(rand() % 3 ? rand() % 48 : rand());
        }
        void *copy = malloc(len ? len : 1);
        memcpy(copy, info, len);
        struct multiboot2 found = multiboot2_read(copy, len, KERNEL);
        free(copy);
        assert_true(found.ram.len == 0 ||
                    (found.ram.start <= KERNEL && KERNEL - found.ram.start < found.ram.len));
        assert_true(found.rsdp < used + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ram_is_joined),      cmocka_unit_test(ram_without_the_kernel_is_none),
        cmocka_unit_test(random_maps),        cmocka_unit_test(screens),
        cmocka_unit_test(modules_and_tables), cmocka_unit_test(bytes_of_all_kinds),
    };
    const char *seed = getenv("KYMO_SEED");
    unsigned n = seed ? (unsigned)strtoul(seed, NULL, 0) : (unsigned)time(NULL);

    printf("KYMO_SEED=%u\n", n);
    fflush(stdout);
    srand(n);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

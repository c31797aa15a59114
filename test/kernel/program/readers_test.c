/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's readers of untrusted files: cpio (kernel/program/cpio.c), ELF and indexes of
 * functions (kernel/program/elf.c), with sound files and with thousands of damaged ones. A file is
 * a heap block of its exact length, so that the address sanitizer sees every read outside.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "test/kernel/program/elf_make.h" /* first: the kernel's headers use other names */
#include "test/tool/random.h"
#include "kernel/program/cpio.h"
#include "kernel/program/elf.h"

#define DAMAGED 20000

static unsigned long tables_read, names_read;

static size_t cpio_add(uint8_t *to, size_t at, const char *name, const void *data, size_t len)
{
    size_t name_len = strlen(name) + 1;

    at += (size_t)sprintf((char *)to + at,
                          "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", 0, 0100644,
                          0, 0, 1, 0, (unsigned)len, 0, 0, 0, 0, (unsigned)name_len, 0);
    memcpy(to + at, name, name_len);
    at = (at + name_len + 3) & ~(size_t)3;
    memcpy(to + at, data, len);
    return (at + len + 3) & ~(size_t)3;
}

static size_t make_cpio(uint8_t *to)
{
    size_t len = cpio_add(to, 0, "./one", "first", 5);

    len = cpio_add(to, len, "two", "", 0);
    len = cpio_add(to, len, "three", "some longer contents", 20);
    return cpio_add(to, len, "TRAILER!!!", "", 0);
}

static void test_cpio(void **state)
{
    uint8_t archive[1024] = {0};
    size_t len = make_cpio(archive);
    struct cpio_file file;

    (void)state;
    assert_true(cpio_find(archive, len, "one", &file));
    assert_int_equal(file.len, 5);
    assert_memory_equal(file.data, "first", 5);
    assert_true(cpio_find(archive, len, "two", &file));
    assert_int_equal(file.len, 0);
    assert_true(cpio_find(archive, len, "three", &file));
    assert_memory_equal(file.data, "some longer contents", 20);
    assert_false(cpio_find(archive, len, "four", &file));
    assert_false(cpio_find(archive, len, "TRAILER!!!", &file));
    assert_false(cpio_find(archive, 0, "one", &file));
}

/* Every byte of every file that the reader admits is inside the archive. */
static void read_all_cpio(const uint8_t *archive, size_t len)
{
    struct cpio_file file;
    size_t offset = 0, files = 0;
    volatile uint8_t sum = 0;

    while (cpio_next(archive, len, &offset, &file)) {
        sum += (uint8_t)strlen(file.name);
        for (size_t i = 0; i < file.len; i++) {
            sum += file.data[i];
        }
        assert_true(++files < 100);
    }
}

static void damage(uint8_t *bytes, size_t len)
{
    for (unsigned n = 1 + random_below(6); n > 0 && len; n--) {
        bytes[random_below((uint32_t)len)] =
            random_below(2) ? (uint8_t)random_below(256) : (uint8_t)("0fF\0\xff"[random_below(5)]);
    }
}

static void test_damaged_cpio(void **state)
{
    uint8_t archive[1024] = {0};
    size_t whole = make_cpio(archive);

    (void)state;
    for (unsigned n = 0; n < DAMAGED; n++) {
        size_t len = random_below(4) ? whole : random_below((uint32_t)whole);
        uint8_t *copy = malloc(len ? len : 1);
        memcpy(copy, archive, len);
        damage(copy, len);
        read_all_cpio(copy, len);
        free(copy);
    }
}

static void check_elf(const void *file, size_t len, uint16_t machine, uint8_t class)
{
    struct elf_image elf;
    struct elf_segment segment;
    struct elf_section section;
    struct elf_reloc reloc;
    struct elf_functions functions;
    uint64_t start;

    assert_int_equal(elf_open(&elf, file, len, machine, class), 0);
    assert_int_equal(elf.entry, MADE_TEXT + 8);
    assert_int_equal(elf_segment(&elf, 0, &segment), 1);
    assert_int_equal(segment.flags, ELF_PF_R | ELF_PF_X);
    assert_int_equal(elf_segment(&elf, 1, &segment), 1);
    assert_int_equal(segment.mem_len, MADE_DATA_LEN + MADE_BSS_LEN);
    assert_int_equal(segment.data[4], 0x11);
    assert_true(elf_segment(&elf, 2, &segment) < 0);
    assert_true(elf_section(&elf, 2, &section));
    assert_true(elf_reloc(&elf, &section, 1, &reloc));
    assert_int_equal(reloc.offset, MADE_TEXT + 20);
    assert_int_equal(reloc.type, R_ARM_ABS32);
    assert_false(elf_reloc(&elf, &section, 2, &reloc));
    assert_ptr_equal(elf_table(&elf, MADE_TABLE, &len), segment.data + 4);
    assert_int_equal(len, 16);
    assert_null(elf_table(&elf, MADE_TABLE * 2, &len));
    assert_true(elf_functions_open(&elf, &functions));
    assert_string_equal(elf_function(&elf, &functions, MADE_TEXT + 12, &start), "main");
    assert_int_equal(start, MADE_TEXT + 8);
    assert_string_equal(elf_function(&elf, &functions, MADE_TEXT + 60, &start), "helper");
    assert_null(elf_function(&elf, &functions, MADE_TEXT + 4, &start));
}

static void test_elf(void **state)
{
    struct made32 a;
    struct made64 b;
    struct elf_image elf;

    (void)state;
    make_elf32(&a, MADE_TEXT, MADE_DATA);
    make_elf64(&b, MADE_TEXT, MADE_DATA);
    check_elf(&a, sizeof(a), EM_ARM, ELF_CLASS_32);
    check_elf(&b, sizeof(b), EM_AARCH64, ELF_CLASS_64);
    assert_true(elf_open(&elf, (void *)&a, sizeof(a), EM_AARCH64, ELF_CLASS_32) < 0);
    assert_true(elf_open(&elf, (void *)&a, sizeof(a), EM_ARM, ELF_CLASS_64) < 0);
    assert_true(elf_open(&elf, (void *)&a, 51, EM_ARM, ELF_CLASS_32) < 0);
}

static void read_all_elf(const uint8_t *file, size_t len, uint16_t machine, uint8_t class)
{
    struct elf_image elf;
    struct elf_segment segment;
    struct elf_section section;
    struct elf_reloc reloc;
    struct elf_functions functions;
    uint64_t start;
    volatile uint8_t sum = 0;

    if (elf_open(&elf, file, len, machine, class)) {
        return;
    }
    for (unsigned i = 0; i < 8; i++) {
        if (elf_segment(&elf, i, &segment) == 1) {
            for (size_t n = 0; n < segment.file_len; n++) {
                sum += segment.data[n];
            }
        }
        if (elf_section(&elf, i, &section)) {
            for (size_t n = 0; elf_reloc(&elf, &section, n, &reloc); n++) {
                sum += (uint8_t)reloc.offset;
            }
        }
    }
    size_t table_len;
    const uint8_t *table = elf_table(&elf, MADE_TABLE, &table_len);
    for (size_t n = 0; table && n < table_len; n++) {
        sum += table[n];
    }
    tables_read += table != NULL;
    if (elf_functions_open(&elf, &functions)) {
        const char *name = elf_function(&elf, &functions, MADE_TEXT + random_below(64), &start);
        sum += (uint8_t)(name ? strlen(name) : 0);
        names_read += name != NULL;
    }
}

static void test_damaged_elf(void **state)
{
    struct made32 a;
    struct made64 b;

    (void)state;
    make_elf32(&a, MADE_TEXT, MADE_DATA);
    make_elf64(&b, MADE_TEXT, MADE_DATA);
    for (unsigned n = 0; n < DAMAGED; n++) {
        bool is32 = random_below(2);
        const void *good = is32 ? (void *)&a : (void *)&b;
        size_t whole = is32 ? sizeof(a) : sizeof(b);
        size_t len = random_below(4) ? whole : random_below((uint32_t)whole);
        uint8_t *copy = malloc(len ? len : 1);
        memcpy(copy, good, len);
        /* Past the identification, or most would be refused at once. */
        damage(copy + 20, len > 20 ? len - 20 : 0);
        read_all_elf(copy, len, is32 ? EM_ARM : EM_AARCH64, is32 ? ELF_CLASS_32 : ELF_CLASS_64);
        free(copy);
    }
    assert_true(tables_read > DAMAGED / 10);
    assert_true(names_read > DAMAGED / 10);
}

/* ---- the index of functions -------------------------------------------------------- */

#define FUNCTIONS_MOST 60
#define NAME_BYTES 16

/* Symbols of `count` functions f0, f1 … at ascending addresses, in a random order, and their index.
 */
struct index {
    Elf32_Sym symbols[FUNCTIONS_MOST];
    uint32_t words[FUNCTIONS_MOST];
    char strings[NAME_BYTES * FUNCTIONS_MOST];
    uint32_t at[FUNCTIONS_MOST];
    struct elf_functions functions;
};

static void make_index(struct index *index, unsigned count)
{
    uint32_t base = MADE_TEXT;

    memset(index, 0, sizeof(*index));
    for (unsigned i = 0; i < count; i++) {
        index->words[i] = i;
    }
    for (unsigned i = 0; i < count; i++) { /* the place of function i */
        unsigned other = i + random_below(count - i), place = index->words[other];
        index->words[other] = index->words[i];
        index->words[i] = place;
        index->at[i] = base += 2 + 2 * random_below(random_below(8) ? 20 : 4000);
        index->symbols[place].st_value = index->at[i] + random_below(2);
        index->symbols[place].st_name = NAME_BYTES * i;
        snprintf(index->strings + NAME_BYTES * i, NAME_BYTES, "f%u", i);
    }
    index->functions = (struct elf_functions){
        .index = (const uint8_t *)index->words,
        .count = count,
        .symbols = {.data = (const uint8_t *)index->symbols,
                    .len = count * sizeof(Elf32_Sym),
                    .entry_len = sizeof(Elf32_Sym)},
        .strings = {.data = (const uint8_t *)index->strings, .len = sizeof(index->strings)}};
}

/* Against a search from the first one on, at and around each function. */
static void test_functions(void **state)
{
    const struct elf_image elf = {.class = ELF_CLASS_32, .machine = EM_ARM};
    struct index index;
    uint64_t start;

    (void)state;
    for (unsigned n = 0; n < 400; n++) {
        unsigned count = random_below(FUNCTIONS_MOST + 1);
        make_index(&index, count);
        for (unsigned i = 0; i < 4 * count + 4; i++) {
            uint32_t addr = count ? index.at[i / 4 % count] + i % 4 - 2 : MADE_TEXT + i;
            const char *found = elf_function(&elf, &index.functions, addr, &start);
            unsigned want = 0;
            while (want < count && index.at[want] <= addr) {
                want++;
            }
            assert_int_equal(found == NULL, want == 0);
            if (found) {
                assert_int_equal(strtoul(found + 1, NULL, 10), want - 1);
                assert_int_equal(start, index.at[want - 1]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpio),        cmocka_unit_test(test_damaged_cpio),
        cmocka_unit_test(test_elf),         cmocka_unit_test(test_functions),
        cmocka_unit_test(test_damaged_elf),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

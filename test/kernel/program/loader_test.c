/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program loader (kernel/program/spawn_layout.c, spawn_load.c, spawn_reloc.c) with sound and
 * damaged programs, relocated and not, with a table (host/reloc/table.c) and without one. Each
 * piece of RAM is a heap block of its own, so that the address sanitizer sees every write outside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "abi/reloc.h"
#include "host/reloc/table.h"
#include "kernel/arch/aspace.h"
#include "test/kernel/program/elf_make.h"
#include "test/tool/random.h"

#undef EM_ARM
#undef EM_AARCH64
#include "test/kernel/fake/fake.h"
#include "kernel/program/spawn.h"
#include "trace/filter.h"

#define ARM 40
#define AARCH64 183
#define DAMAGED 20000

bool trace_system_wanted; /* a trace doesn't want the library's probes */

/* ---- RAM from the heap ------------------------------------------------------------- */

static int blocks_out;

/* No program here is linked for its place. */
bool phys_alloc_at(paddr_t pa, size_t len)
{
    (void)pa;
    (void)len;
    return false;
}

paddr_t phys_alloc_raw(size_t len, size_t align)
{
    void *p = len > 1u << 20 ? NULL : aligned_alloc(align, len);

    if (p) {
        memset(p, 0xee, len);
        blocks_out++;
    }
    return (paddr_t)p;
}

paddr_t phys_alloc(size_t len, size_t align)
{
    return phys_alloc_raw(len, align);
}

size_t phys_granule(void)
{
    return 4096;
}

size_t phys_available(void)
{
    return SIZE_MAX;
}

void phys_clear(paddr_t pa, size_t len)
{
    memset((void *)pa, 0, len);
}

void phys_free(paddr_t pa, size_t len)
{
    (void)len;
    free((void *)pa);
    blocks_out--;
}

static struct process child;
static struct spawn_job job;

static const struct kymo_spawn request = {
    .program = "p", .argc = 2, .arg_bytes = 8, .args = "one\0two"};

static int load(const void *file, size_t len, uint16_t machine, uint8_t class)
{
    memset(&child, 0, sizeof(child));
    fake_account(&child);
    memset(&job, 0, sizeof(job));
    job.child = &child;
    job.stack_size = 500;
    job.heap_size = 1000;
    job.block_size = spawn_block_size(&request);
    int error = elf_open(&job.elf, file, len, machine, class);
    if (!error) {
        do { /* at most one step a segment, and a few */
            error = spawn_layout_step(&job);
        } while (error > 0);
    }
    if (error) {
        return error;
    }
    spawn_block_write(&job, &request);
    for (unsigned n = 0; (error = spawn_load_step(&job)) > 0; n++) {
        assert_true(n < 100000);
    }
    return error;
}

/* The bytes of the process at an address. */
static void *at(uintptr_t vaddr, size_t len)
{
    void *p = vm_user_ptr(&child, vaddr, len, KYMO_PROT_READ);

    assert_non_null(p);
    return p;
}

static void check_common(void)
{
    struct kymo_startup *startup = at(job.block, sizeof(*startup));
    uintptr_t *argv = at((uintptr_t)startup->argv, 3 * sizeof(uintptr_t));
    uintptr_t data = spawn_placed(&job, MADE_DATA);
    uint32_t *words = at(data, MADE_DATA_LEN);
    uint8_t *bss = at(data + MADE_DATA_LEN, MADE_BSS_LEN), *heap;

    assert_int_equal(startup->argc, 2);
    assert_string_equal(at(argv[0], 4), "one");
    assert_string_equal(at(argv[1], 4), "two");
    assert_int_equal(argv[2], 0);
    assert_int_equal(words[3], 0x33333333);
    for (unsigned i = 0; i < MADE_BSS_LEN; i++) {
        assert_int_equal(bss[i], 0);
    }
    assert_true(job.stack_high - job.stack_low >= 500);
    assert_true(job.heap_high - job.heap_low >= 1000);
    heap = at(job.heap_low, 1000);
    assert_int_equal(heap[0] | heap[999], 0);
    assert_int_equal(*(uint8_t *)at(job.stack_low, 1), 0);
    assert_null(vm_user_ptr(&child, child.program.text, 4, KYMO_PROT_WRITE));
    assert_non_null(vm_user_ptr(&child, child.program.text, MADE_TEXT_LEN, KYMO_PROT_EXEC));
}

static void test_relocated(void **state)
{
    struct made32 file;

    (void)state;
    fake_relocates = true;
    make_elf32(&file, MADE_TEXT, MADE_DATA);
    assert_int_equal(load(&file, sizeof(file), ARM, ELF_CLASS_32), 0);
    check_common();
    uint32_t *text = at(child.program.text, MADE_TEXT_LEN);
    assert_int_equal(text[4], (uint32_t)spawn_placed(&job, MADE_DATA + 4));
    assert_int_equal(text[5], (uint32_t)child.program.text + 9);
    vm_process_gone(&child);
    assert_int_equal(blocks_out, 0);
}

/* Where a linked address is by now: in the segment that has it, else in the one that ends there. */
static uint32_t moved(uint32_t text, uint32_t data, uint32_t value)
{
    uint32_t text_at = (uint32_t)job.segments[0].vaddr, data_at = (uint32_t)job.segments[1].vaddr;
    uint32_t in_text = value - text, in_data = value - data;

    if (in_text < MADE_TEXT_LEN) {
        return text_at + in_text;
    }
    if (in_data <= MADE_DATA_LEN + MADE_BSS_LEN) {
        return data_at + in_data;
    }
    return in_text == MADE_TEXT_LEN ? text_at + in_text : value;
}

/* Two segments that touch, or have one byte between them, in either order: every address from
 * before the first to after the second. */
static void test_neighbours(void **state)
{
    enum { DATA_LEN = MADE_DATA_LEN + MADE_BSS_LEN };
    struct made32 file;

    (void)state;
    fake_relocates = true;
    for (unsigned n = 0; n < 4; n++) {
        uint32_t gap = n / 2 * 4, text = MADE_TEXT, data = text + MADE_TEXT_LEN + gap;

        text += n % 2 ? DATA_LEN + gap : 0;
        data = n % 2 ? MADE_TEXT : data;
        for (uint32_t value = MADE_TEXT - 4; value < MADE_TEXT + DATA_LEN + 80; value++) {
            make_elf32(&file, text, data);
            file.text[4] = value;
            assert_int_equal(load(&file, sizeof(file), ARM, ELF_CLASS_32), 0);
            assert_int_not_equal(job.segments[0].vaddr - text, job.segments[1].vaddr - data);
            assert_int_equal(((uint32_t *)at(child.program.text, MADE_TEXT_LEN))[4],
                             moved(text, data, value));
            vm_process_gone(&child);
        }
    }
    assert_int_equal(blocks_out, 0);
}

static void test_in_place(void **state)
{
    struct made64 file;

    (void)state;
    fake_relocates = false;
    make_elf64(&file, MADE_TEXT, MADE_DATA);
    assert_int_equal(load(&file, sizeof(file), AARCH64, ELF_CLASS_64), 0);
    check_common();
    assert_int_equal(child.program.text, MADE_TEXT);
    assert_int_equal(((uint32_t *)at(MADE_TEXT, MADE_TEXT_LEN))[5], MADE_TEXT + 9);
    vm_process_gone(&child);
    assert_int_equal(blocks_out, 0);
}

static void test_refused(void **state)
{
    struct made32 good, bad;

    (void)state;
    fake_relocates = true;
    make_elf32(&good, MADE_TEXT, MADE_DATA);
    bad = good;
    bad.segments[0].p_flags |= PF_W; /* writable and executable */
    assert_true(load(&bad, sizeof(bad), ARM, ELF_CLASS_32) < 0);
    vm_process_gone(&child);
    bad = good;
    bad.header.e_entry = MADE_DATA; /* not in the text */
    assert_true(load(&bad, sizeof(bad), ARM, ELF_CLASS_32) < 0);
    vm_process_gone(&child);
    bad = good;
    bad.relocs[1].r_offset = MADE_TEXT + MADE_TEXT_LEN - 2; /* across the end */
    assert_true(load(&bad, sizeof(bad), ARM, ELF_CLASS_32) < 0);
    vm_process_gone(&child);
    bad = good;
    bad.relocs[0].r_info = R_ARM_PC24; /* of a kind that can't be */
    assert_true(load(&bad, sizeof(bad), ARM, ELF_CLASS_32) < 0);
    vm_process_gone(&child);
    assert_int_equal(blocks_out, 0);
}

static void test_damaged(void **state)
{
    struct made32 a;
    struct made64 b;

    (void)state;
    make_elf32(&a, MADE_TEXT, MADE_DATA);
    make_elf64(&b, MADE_TEXT, MADE_DATA);
    for (unsigned n = 0; n < DAMAGED; n++) {
        bool is32 = random_below(2);
        size_t len = is32 ? sizeof(a) : sizeof(b);
        uint8_t *copy = malloc(len);
        memcpy(copy, is32 ? (void *)&a : (void *)&b, len);
        for (unsigned bytes = 1 + random_below(4); bytes > 0; bytes--) {
            copy[20 + random_below((uint32_t)len - 20)] = (uint8_t)random_below(256);
        }
        fake_relocates = random_below(4) ? is32 : !is32;
        load(copy, len, is32 ? ARM : AARCH64, is32 ? ELF_CLASS_32 : ELF_CLASS_64);
        vm_process_gone(&child);
        assert_int_equal(blocks_out, 0);
        free(copy);
    }
}

/* ---- with a relocation table ------------------------------------------------------- */

enum { BIG_TEXT_LEN = 9000, BIG_DATA_LEN = 2000, BIG_BSS_LEN = 500, PLACES_MOST = 3000 };

struct big {
    Elf32_Ehdr header;
    Elf32_Phdr segments[2];
    Elf32_Shdr sections[2]; /* none, the table */
    uint8_t text[BIG_TEXT_LEN], data[BIG_DATA_LEN];
};

static struct big big;
static struct reloc_place places[PLACES_MOST];
static size_t nplaces;

static void big_make(void)
{
    static struct made32 made;

    make_elf32(&made, MADE_TEXT, MADE_DATA);
    big.header = made.header;
    memcpy(big.segments, made.segments, sizeof(big.segments));
    big.header.e_phoff = offsetof(struct big, segments);
    big.header.e_shoff = offsetof(struct big, sections);
    big.header.e_shnum = 2;
    big.segments[0].p_offset = offsetof(struct big, text);
    big.segments[0].p_filesz = big.segments[0].p_memsz = BIG_TEXT_LEN;
    big.segments[1].p_offset = offsetof(struct big, data);
    big.segments[1].p_filesz = BIG_DATA_LEN;
    big.segments[1].p_memsz = BIG_DATA_LEN + BIG_BSS_LEN;
    big.sections[1] = (Elf32_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = sizeof(big)};
    for (size_t i = 0; i < sizeof(big.text); i++) {
        big.text[i] = (uint8_t)random_below(256);
    }
    for (size_t i = 0; i < sizeof(big.data); i++) {
        big.data[i] = (uint8_t)random_below(256);
    }
}

/* A word at this place that points somewhere into, or to the end of, a segment. */
static void place_word(bool in_data, uint32_t offset)
{
    bool to_data = random_below(2);
    uint32_t len = to_data ? BIG_DATA_LEN + BIG_BSS_LEN : BIG_TEXT_LEN;
    uint32_t to = to_data ? MADE_DATA : MADE_TEXT, value = to + random_below(len + 1);

    memcpy((in_data ? big.data : big.text) + offset, &value, sizeof(value));
    places[nplaces++] = (struct reloc_place){in_data ? MADE_DATA : MADE_TEXT, to, offset};
}

/* Words in rows, near, far and at odd addresses; the last may end with the segment. */
static void place_words(bool in_data, uint32_t len)
{
    uint32_t at = random_below(300);

    while (at + 4 <= len) {
        for (uint32_t row = random_below(3) ? 1 : 1 + random_below(150); row && at + 4 <= len;) {
            place_word(in_data, at);
            at += 4;
            row--;
        }
        at += random_below(4) ? 4 * random_below(60) : random_below(2500);
        if (at + 4 <= len && random_below(20) == 0) {
            at = len - 4;
        }
    }
}

static void *big_file(const uint8_t *table, size_t len)
{
    uint8_t *file = malloc(sizeof(big) + len);

    big.sections[1].sh_size = (Elf32_Word)len;
    memcpy(file, &big, sizeof(big));
    memcpy(file + sizeof(big), table, len);
    return file;
}

/* Makes a program with random places, and its table; returns the file. */
static void *big_random(size_t *len)
{
    size_t table_len;

    big_make();
    nplaces = 0;
    place_words(false, BIG_TEXT_LEN);
    place_words(true, BIG_DATA_LEN);
    uint8_t *table = reloc_table_make(places, nplaces, &table_len);
    assert_non_null(table);
    void *file = big_file(table, table_len);
    free(table);
    *len = sizeof(big) + table_len;
    return file;
}

/* What the places say, done here: the loaded program has just that. */
static void test_table(void **state)
{
    (void)state;
    fake_relocates = true;
    for (unsigned n = 0; n < 300; n++) {
        size_t len;
        void *file = big_random(&len);

        assert_int_equal(load(file, len, ARM, ELF_CLASS_32), 0);
        for (size_t i = 0; i < nplaces; i++) {
            bool to_data = places[i].to == MADE_DATA;
            uint8_t *word = (places[i].in == MADE_DATA ? big.data : big.text) + places[i].offset;
            uint32_t value;
            memcpy(&value, word, sizeof(value));
            value += (uint32_t)job.segments[to_data].vaddr - places[i].to;
            memcpy(word, &value, sizeof(value));
        }
        assert_memory_equal(at(job.segments[0].vaddr, BIG_TEXT_LEN), big.text, BIG_TEXT_LEN);
        assert_memory_equal(at(job.segments[1].vaddr, BIG_DATA_LEN), big.data, BIG_DATA_LEN);
        vm_process_gone(&child);
        free(file);
    }
    assert_int_equal(blocks_out, 0);
}

static void expect_table(int error, const char *codes, size_t n, uint32_t in, uint32_t claimed)
{
    uint8_t table[100];
    uint32_t head[] = {RELOC_MAGIC, in, MADE_DATA, claimed};

    big_make();
    memcpy(table, head, sizeof(head));
    memcpy(table + sizeof(head), codes, n);
    void *file = big_file(table, sizeof(head) + n);
    assert_int_equal(load(file, sizeof(big) + sizeof(head) + n, ARM, ELF_CLASS_32), error);
    vm_process_gone(&child);
    free(file);
}

static void test_table_refused(void **state)
{
    char near_end[] = "\xff\x24\x23\x00\x01", row_end[] = "\xff\x24\x23\x00\xc0";
    char row_over[] = "\xff\x24\x23\x00\xc1", near_over[] = "\xff\x24\x23\x00\x02";

    (void)state;
    fake_relocates = true;
    expect_table(0, "", 0, MADE_DATA, 0);
    expect_table(0, near_end, 5, MADE_TEXT, 5); /* the last word, at 8,996 */
    expect_table(0, row_end, 5, MADE_TEXT, 5);
    expect_table(-ENOEXEC, near_over, 5, MADE_TEXT, 5);
    expect_table(-ENOEXEC, row_over, 5, MADE_TEXT, 5);
    expect_table(-ENOEXEC, "\xff\x25\x23\x00\x01", 5, MADE_TEXT, 5);
    expect_table(0, "\xff\x28\x23\x00", 4, MADE_TEXT, 4);
    expect_table(-ENOEXEC, "\xff\x29\x23\x00", 4, MADE_TEXT, 4);
    expect_table(-ENOEXEC, "\xff\xff\xff\xff", 4, MADE_TEXT, 4);
    expect_table(-ENOEXEC, "\xff\x01\x00", 3, MADE_TEXT, 3); /* the code is cut short */
    expect_table(-ENOEXEC, "\x01\x01", 2, MADE_TEXT, 3);     /* more than there is */
    expect_table(-ENOEXEC, "\x01\x01", 2, MADE_TEXT, 0xffffffff);
    expect_table(-ENOEXEC, "\x01\x01", 2, MADE_TEXT, 1);     /* half a group after it */
    expect_table(-ENOEXEC, "\x01\x01", 2, MADE_TEXT + 4, 2); /* no segment begins there */
    assert_int_equal(blocks_out, 0);
}

/* Any table is obeyed or refused; nothing outside the segments is read or written. */
static void test_table_damaged(void **state)
{
    unsigned loaded = 0;

    (void)state;
    fake_relocates = true;
    for (unsigned n = 0; n < DAMAGED / 20; n++) {
        size_t len;
        uint8_t *file = big_random(&len), *copy;

        for (unsigned bytes = random_below(4); bytes > 0; bytes--) {
            size_t table = sizeof(big) + sizeof(uint32_t), tail = random_below(2) ? 0 : table;
            size_t where = tail + random_below((uint32_t)(len - tail));
            if (where >= table || where < sizeof(big) - BIG_TEXT_LEN - BIG_DATA_LEN) {
                file[where > 20 ? where : 20] = (uint8_t)random_below(256);
            }
        }
        len -= random_below(4) ? 0 : random_below(100);
        copy = malloc(len);
        memcpy(copy, file, len);
        loaded += load(copy, len, ARM, ELF_CLASS_32) == 0;
        vm_process_gone(&child);
        assert_int_equal(blocks_out, 0);
        free(copy);
        free(file);
    }
    assert_true(loaded > DAMAGED / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relocated),     cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_in_place),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damaged),       cmocka_unit_test(test_table),
        cmocka_unit_test(test_table_refused), cmocka_unit_test(test_table_damaged),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

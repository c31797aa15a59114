/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The helper in a program's ELF file, which may be damaged or hostile: what is wrong with it is
 * said, and no memory is touched that isn't the file's. The program is stackvm of virt-a64, which
 * must be built. STEPS, SEED: random damage.
 */
#include "host/remote/helper_note.h"
#include "test/tool/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PROGRAM "build/virt-a64/programs/stackvm"
#define SOURCE "apps/stackvm/stackvm.d"

static uint8_t *file, *copy;
static size_t size;
static size_t note_at, note_bytes, header_at; /* of the section, in the file */

static uint8_t *read_all(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data;

    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    rewind(f);
    data = calloc(1, *bytes + 1);
    assert_int_equal(fread(data, 1, *bytes, f), *bytes);
    fclose(f);
    return data;
}

static struct helper_note note_in(const uint8_t *bytes, size_t n)
{
    uint8_t *own = malloc(n ? n : 1); /* of exactly this size, so that ASan sees its end */
    struct helper_note note;

    memcpy(own, bytes, n);
    Elf *elf = elf_memory((char *)own, n);
    note = (struct helper_note){.why = "it is no ELF file"};
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        helper_note_of(elf, &note);
    }
    elf_end(elf);
    free(own);
    return note;
}

static int open_file(void **state)
{
    Elf_Scn *section = NULL;
    GElf_Shdr s;
    size_t names;

    (void)state;
    elf_version(EV_CURRENT);
    file = read_all(PROGRAM, &size);
    copy = malloc(size);
    Elf *elf = elf_memory((char *)file, size);
    assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
    const Elf64_Ehdr *head = (const void *)file;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        gelf_getshdr(section, &s);
        if (strcmp(elf_strptr(elf, names, s.sh_name), ".note.kymo_helper") == 0) {
            note_at = s.sh_offset;
            note_bytes = s.sh_size;
            header_at = head->e_shoff + elf_ndxscn(section) * sizeof(Elf64_Shdr);
        }
    }
    elf_end(elf);
    assert_true(note_at > 0);
    return 0;
}

static int close_file(void **state)
{
    (void)state;
    free(file);
    free(copy);
    return 0;
}

static void test_it_is_the_source(void **state)
{
    struct helper_note note = note_in(file, size);
    size_t n;
    char *source = (char *)read_all(SOURCE, &n);

    (void)state;
    assert_null(note.why);
    assert_non_null(note.text);
    assert_int_equal(strlen(note.text), n + 1);
    assert_memory_equal(note.text, source, n);
    assert_true(note.id_at > 0x400000);
    free(source);
    free(note.text);
}

static void is_bad(const char *why)
{
    struct helper_note note = note_in(copy, size);

    assert_null(note.text);
    if (!note.why || strcmp(note.why, why) != 0) {
        fail_msg("%s, not: %s", note.why ? note.why : "nothing", why);
    }
}

static void put_word(size_t at, uint32_t word)
{
    memcpy(copy, file, size);
    memcpy(copy + at, &word, sizeof(word));
}

static void test_known_damage(void **state)
{
    Elf64_Shdr *header = (void *)(copy + header_at);

    (void)state;
    put_word(note_at, 6); /* the owner's length */
    is_bad("it has a note of another kind");
    put_word(note_at + 8, 2); /* the type */
    is_bad("it has a note of another kind");
    put_word(note_at + 12, 0x6f6d794b + 1); /* the owner */
    is_bad("it has a note of another kind");
    put_word(note_at, UINT32_MAX);
    is_bad("it is cut off");
    put_word(note_at + 4, UINT32_MAX);
    is_bad("it is cut off");
    put_word(note_at + 4, (uint32_t)note_bytes);
    is_bad("it is cut off");
    put_word(note_at + 40, 0);
    is_bad("it is no text");
    memcpy(copy, file, size);
    header->sh_size -= 4;
    is_bad("it is cut off");
    memcpy(copy, file, size);
    header->sh_size = 8;
    is_bad("it is cut off");
    memcpy(copy, file, size); /* as long as all that is behind it */
    header->sh_size = size - note_at;
    struct helper_note note = note_in(copy, size);
    assert_null(note.text);
    assert_non_null(note.why);
}

/* A note of more than 64 KB, in a file that has that much. */
static void test_long(void **state)
{
    const uint32_t length = 70 * 1024;
    uint8_t *larger = malloc(size + 16 + 12 + 8 + length);

    (void)state;
    memcpy(larger, file, size);
    size_t at = (size + 15) & ~(size_t)15;
    memset(larger + size, 0, at - size);
    memcpy(larger + at, file + note_at, 20);
    memcpy(larger + at + 4, &length, sizeof(length));
    memset(larger + at + 20, ' ', length);
    Elf64_Shdr *header = (void *)(larger + header_at);
    header->sh_offset = at;
    header->sh_size = 20 + length;
    struct helper_note note = note_in(larger, at + 20 + length);
    assert_null(note.text);
    assert_string_equal(note.why ? note.why : "", "it is longer than 64 KB");
    free(larger);
}

/* A program that has none, or whose build id is not there, has no helper. */
static void test_without(void **state)
{
    size_t n;
    uint8_t *hello = read_all("build/virt-a64/programs/hello", &n);
    struct helper_note note = note_in(hello, n);
    Elf64_Shdr *header = (void *)(copy + header_at);

    (void)state;
    assert_null(note.why);
    assert_null(note.text);
    free(hello);
    memcpy(copy, file, size);
    header->sh_type = SHT_PROGBITS;
    note = note_in(copy, size);
    assert_null(note.text);
    const Elf64_Ehdr *head = (const void *)copy;
    memcpy(copy, file, size);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        Elf64_Shdr *s = (void *)(copy + head->e_shoff + i * sizeof(*s));
        s->sh_flags &= ~(uint64_t)SHF_ALLOC;
    }
    is_bad("the program has no build id in its memory, by which it is recognized");
}

/* Whatever is there, the text is one, or there is none. */
static void test_random(void **state)
{
    const char *steps = getenv("STEPS");
    const unsigned rounds = steps ? (unsigned)atoi(steps) / 10 : 2000;

    (void)state;
    random_start();
    for (unsigned i = 0; i < rounds; i++) {
        memcpy(copy, file, size);
        size_t length = size;
        for (unsigned k = random_below(4) + 1; k > 0; k--) {
            static const size_t lengths[] = {64, 40, 2048};
            const size_t starts[] = {header_at, note_at, size - 2048};
            const unsigned which = random_below(3);

            copy[starts[which] + random_below((uint32_t)lengths[which])] =
                (uint8_t)random_below(256);
        }
        if (random_below(8) == 0) {
            length = random_below((uint32_t)size);
        }
        struct helper_note note = note_in(copy, length);
        if (note.text) {
            assert_null(note.why);
            assert_true(strlen(note.text) < HELPER_TEXT_MOST);
        }
        free(note.text);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_the_source),
        cmocka_unit_test(test_known_damage),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_without),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, open_file, close_file);
}

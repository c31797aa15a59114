/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layouts, sizes, enumerators and bit-fields as D reads them from DWARF, against what each CPU's
 * compiler said of them while it compiled elf/layouts.c.
 */
#include "test/host/dt/front.h"

#include <gelf.h>

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef SAMPLES
#error SAMPLES: the folder of the compiled samples
#endif

struct expected {
    char expression[88];
    uint64_t value;
};

static Elf *elf;
static int elf_fd;
static bool plain_signed;

static void use(const char *file, bool is_arm)
{
    if (is_arm) {
        front_open_arm(NULL);
    } else {
        front_open(NULL);
    }
    if (!dt_session_add_elf(front.d, file, "prog", true)) {
        fail_msg("%s can't be read", file);
    }
    elf_version(EV_CURRENT);
    elf_fd = open(file, O_RDONLY);
    elf = elf_begin(elf_fd, ELF_C_READ, NULL);
    assert_non_null(elf);
}

static void done(void)
{
    elf_end(elf);
    close(elf_fd);
    front_close(NULL);
}

/* The bytes that a symbol starts with, in the file. */
static const unsigned char *bytes_of(const char *symbol, size_t size)
{
    const struct dt_type *type;
    uint64_t address;
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    if (!dt_symbol_lookup(front.d, "prog", symbol, &address, &type)) {
        fail_msg("no symbol %s", symbol);
    }
    while ((section = elf_nextscn(elf, section)) != NULL) {
        gelf_getshdr(section, &header);
        if ((header.sh_flags & SHF_ALLOC) && header.sh_type == SHT_PROGBITS &&
            address >= header.sh_addr && address + size <= header.sh_addr + header.sh_size) {
            const Elf_Data *data = elf_rawdata(section, NULL);
            return (const unsigned char *)data->d_buf + (address - header.sh_addr);
        }
    }
    fail_msg("%s lies in no section", symbol);
    return NULL;
}

static void expressions(void)
{
    uint32_t count;
    unsigned wrong = 0;

    memcpy(&count, bytes_of("expected_count", sizeof(count)), sizeof(count));
    assert_true(count > 100);
    const unsigned char *table = bytes_of("expected", count * sizeof(struct expected));
    for (uint32_t i = 0; i < count; i++) {
        struct expected e;
        memcpy(&e, table + i * sizeof(e), sizeof(e));
        const char *text = dt_sprintf(front.d, "inline int64_t v%u = %s;", i, e.expression);
        if (!script(text)) {
            print_error("%s: %s\n", e.expression, dt_session_error(front.d)->text);
            wrong++;
        } else if ((uint64_t)value(e.expression) != e.value) {
            print_error("%s: D %lld, the compiler %lld\n", e.expression,
                        (long long)value(e.expression), (long long)e.value);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* bits_X has all bits of X set, and no other. */
static void bit_field(const struct dt_type *bits, const char *name)
{
    uint64_t offset;
    const struct dt_member *m = dt_type_member(bits, name, &offset);
    const unsigned char *bytes = bytes_of(dt_sprintf(front.d, "bits_%s", name), bits->size);

    assert_non_null(m);
    const struct dt_type *t = dt_type_resolve(m->type);
    uint64_t width = t->bits ? t->bits : t->size * 8;
    for (uint64_t bit = 0; bit < bits->size * 8; bit++) {
        bool set = bytes[bit / 8] >> bit % 8 & 1, wanted = bit >= offset && bit < offset + width;
        if (set != wanted) {
            fail_msg("bit %u is%s of %s, D has it at %u, %u bits", (unsigned)bit, set ? "" : " not",
                     name, (unsigned)offset, (unsigned)width);
        }
    }
    /* Of plain char, x86-64's is signed, the others' is not. */
    assert_int_equal(t->is_signed, *name == 'e' || *name == 'o' || (*name == 'n' && plain_signed));
}

static void bit_fields(void)
{
    static const char names[] = "abcdefghijklmno";
    const struct dt_type *bits = dt_type_resolve(type("struct prog`bits"));

    for (const char *at = names; *at; at++) {
        const char name[] = {*at, '\0'};
        bit_field(bits, name);
    }
}

static void layouts_of(const char *file, bool is_arm, bool char_signed)
{
    plain_signed = char_signed;
    use(file, is_arm);
    expressions();
    bit_fields();
    done();
}

static void x86_64(void **state)
{
    (void)state;
    layouts_of(SAMPLES "/layouts-x86_64.elf", false, true);
}

static void aarch64(void **state)
{
    (void)state;
    layouts_of(SAMPLES "/layouts-aarch64.elf", false, false);
}

static void arm(void **state)
{
    (void)state;
    layouts_of(SAMPLES "/layouts-arm.elf", true, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x86_64),
        cmocka_unit_test(aarch64),
        cmocka_unit_test(arm),
    };

    return cmocka_run_group_tests_name("d_front layouts", tests, NULL, NULL);
}

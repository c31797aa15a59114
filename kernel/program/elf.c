/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads ELF files; see elf.h. Fields are copied out, because nothing in the file need be
 * aligned. Tested by test/kernel/program/readers_test.c with random damage.
 */
#include "kernel/program/elf.h"

#include "abi/errno.h"
#include "abi/functions.h"
#include "kernel/base/string.h"

#define ET_EXEC 2
#define PT_LOAD 1
#define SHT_PROGBITS 1
#define SHT_NOBITS 8
#define NAME_MOST 256 /* bytes of a function's name */

static uint16_t elf_get16(const uint8_t *p)
{
    uint16_t value;

    __builtin_memcpy(&value, p, sizeof(value));
    return value;
}

static uint64_t elf_get64(const uint8_t *p)
{
    uint64_t value;

    __builtin_memcpy(&value, p, sizeof(value));
    return value;
}

/* Reads a field whose offset and width depend on the class: off32 and 4 bytes, or off64 and 8. */
static uint64_t get_word(const struct elf_image *elf, const uint8_t *p, unsigned off32,
                         unsigned off64)
{
    return elf->class == ELF_CLASS_32 ? elf_get32(p + off32) : elf_get64(p + off64);
}

static uint32_t get_half_word(const struct elf_image *elf, const uint8_t *p, unsigned off32,
                              unsigned off64)
{
    return elf_get32(p + (elf->class == ELF_CLASS_32 ? off32 : off64));
}

/* Returns the bytes [offset, offset + len) of the file, or NULL. */
static const uint8_t *bytes_at(const struct elf_image *elf, uint64_t offset, uint64_t len)
{
    return offset <= elf->len && len <= elf->len - offset ? elf->base + offset : NULL;
}

int elf_open(struct elf_image *elf, const uint8_t *base, size_t len, uint16_t machine,
             uint8_t class)
{
    static const uint8_t magic[4] = {0x7f, 'E', 'L', 'F'};
    size_t header = class == ELF_CLASS_32 ? 52 : 64;

    elf->base = base;
    elf->len = len;
    elf->class = class;
    elf->machine = machine;
    if (len < header || memcmp(base, magic, sizeof(magic)) != 0 || base[4] != class ||
        base[5] != 1 || elf_get16(base + 16) != ET_EXEC || elf_get16(base + 18) != machine) {
        return -ENOEXEC;
    }
    const uint8_t *counts = base + (class == ELF_CLASS_32 ? 42 : 54); /* e_phentsize */
    elf->entry = get_word(elf, base, 24, 24);
    elf->phoff = get_word(elf, base, 28, 32);
    elf->shoff = get_word(elf, base, 32, 40);
    elf->phnum = elf_get16(counts + 2);
    elf->shnum = elf_get16(counts + 6);
    if (elf_get16(counts) != (class == ELF_CLASS_32 ? 32 : 56)) {
        return -ENOEXEC;
    }
    if (elf->shnum && elf_get16(counts + 4) != (class == ELF_CLASS_32 ? 40 : 64)) {
        elf->shnum = 0; /* only symbols and relocations are lost */
    }
    return 0;
}

int elf_segment(const struct elf_image *elf, unsigned i, struct elf_segment *seg)
{
    size_t size = elf->class == ELF_CLASS_32 ? 32 : 56;
    const uint8_t *p = NULL;

    if (i < elf->phnum && elf->phoff <= elf->len) {
        p = bytes_at(elf, elf->phoff + (uint64_t)i * size, size);
    }
    if (!p) {
        return -ENOEXEC;
    }
    if (elf_get32(p) != PT_LOAD) {
        return 0;
    }
    uint64_t file_len = get_word(elf, p, 16, 32);
    seg->vaddr = get_word(elf, p, 8, 16);
    seg->mem_len = get_word(elf, p, 20, 40);
    seg->flags = get_half_word(elf, p, 24, 4);
    seg->align = get_word(elf, p, 28, 48);
    seg->data = bytes_at(elf, get_word(elf, p, 4, 8), file_len);
    seg->file_len = (size_t)file_len;
    if (!seg->data || file_len > seg->mem_len || seg->mem_len > UINT32_MAX ||
        seg->vaddr > UINT64_MAX - seg->mem_len) {
        return -ENOEXEC;
    }
    return seg->mem_len ? 1 : 0;
}

bool elf_section(const struct elf_image *elf, unsigned i, struct elf_section *sec)
{
    size_t size = elf->class == ELF_CLASS_32 ? 40 : 64;
    const uint8_t *p = NULL;

    if (i < elf->shnum && elf->shoff <= elf->len) {
        p = bytes_at(elf, elf->shoff + (uint64_t)i * size, size);
    }
    if (!p) {
        return false;
    }
    uint64_t len = get_word(elf, p, 20, 32);
    uint64_t entry_len = get_word(elf, p, 36, 56);
    sec->type = elf_get32(p + 4);
    sec->flags = get_word(elf, p, 8, 8);
    sec->data = sec->type == SHT_NOBITS ? NULL : bytes_at(elf, get_word(elf, p, 16, 24), len);
    sec->len = sec->data ? (size_t)len : 0;
    sec->link = get_half_word(elf, p, 24, 40);
    sec->info = get_half_word(elf, p, 28, 44);
    sec->entry_len = entry_len && entry_len <= UINT32_MAX ? (size_t)entry_len : 1;
    return true;
}

/* Returns entry i of a table whose entries have at least `size` bytes, or NULL. */
static const uint8_t *table_entry(const struct elf_section *sec, size_t i, size_t size)
{
    if (sec->entry_len < size || i >= sec->len / sec->entry_len) {
        return NULL;
    }
    return sec->data + i * sec->entry_len;
}

bool elf_reloc(const struct elf_image *elf, const struct elf_section *sec, size_t i,
               struct elf_reloc *reloc)
{
    const uint8_t *p = table_entry(sec, i, elf->class == ELF_CLASS_32 ? 8 : 16);

    if (!p) {
        return false;
    }
    uint64_t info = get_word(elf, p, 4, 8);
    reloc->offset = get_word(elf, p, 0, 0);
    reloc->type = (unsigned)(elf->class == ELF_CLASS_32 ? info & 0xff : info & 0xffffffff);
    return true;
}

/* Returns a name in a string table, or NULL if it doesn't end inside the table. */
static const char *string_at(const struct elf_section *strings, uint32_t at)
{
    for (size_t end = at; end < strings->len && end - at < NAME_MOST; end++) {
        if (strings->data[end] == '\0') {
            return (const char *)strings->data + at;
        }
    }
    return NULL;
}

/* Returns the address of function i of the index, without a Thumb bit, and its symbol. For a number
 * without a symbol it returns an address after all functions. */
static uint64_t function_at(const struct elf_image *elf, const struct elf_functions *f, size_t i,
                            const uint8_t **symbol)
{
    const uint8_t *p =
        table_entry(&f->symbols, elf_get32(f->index + 4 * i), elf->class == ELF_CLASS_32 ? 16 : 24);

    *symbol = p;
    if (!p) {
        return UINT64_MAX;
    }
    uint64_t thumb = elf->machine == ELF_MACHINE_ARM;
    return get_word(elf, p, 4, 8) & ~thumb;
}

bool elf_functions_open(const struct elf_image *elf, struct elf_functions *f)
{
    f->index = elf_table(elf, FUNCTIONS_MAGIC, &f->count);
    if (!f->index) {
        return false;
    }
    f->index += 4;
    f->count = f->count / 4 - 1;
    for (unsigned i = 0; elf_section(elf, i, &f->symbols); i++) {
        if (f->symbols.type == ELF_SHT_SYMTAB) {
            return elf_section(elf, f->symbols.link, &f->strings);
        }
    }
    return false;
}

const char *elf_function(const struct elf_image *elf, const struct elf_functions *f, uint64_t addr,
                         uint64_t *start)
{
    const uint8_t *symbol = NULL;
    size_t low = 0, high = f->count;

    while (low < high) { /* the last function at or below addr has an index below `high` */
        size_t middle = low + (high - low) / 2;
        if (function_at(elf, f, middle, &symbol) <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return NULL;
    }
    *start = function_at(elf, f, low - 1, &symbol);
    return symbol ? string_at(&f->strings, elf_get32(symbol)) : NULL;
}

const uint8_t *elf_table(const struct elf_image *elf, uint32_t magic, size_t *len)
{
    struct elf_section sec;

    for (unsigned i = 0; elf_section(elf, i, &sec); i++) {
        if (sec.type == SHT_PROGBITS && !(sec.flags & ELF_SHF_ALLOC) && sec.len >= 4 &&
            elf_get32(sec.data) == magic) {
            *len = sec.len;
            return sec.data;
        }
    }
    *len = 0;
    return NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads ELF files in memory: little-endian, 32 or 64 bits. Any context, no lock. The file is
 * untrusted: nothing outside it is ever read, and all loops end.
 */
#ifndef KERNEL_PROGRAM_ELF_H
#define KERNEL_PROGRAM_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image {
    const uint8_t *base;
    size_t len;
    uint8_t class; /* ELF_CLASS_* */
    uint16_t machine;
    uint64_t entry;
    uint64_t phoff, shoff;
    uint16_t phnum, shnum;
};
#define ELF_CLASS_32 1
#define ELF_CLASS_64 2
#define ELF_MACHINE_ARM 40

struct elf_segment { /* of type PT_LOAD; file bytes are inside the file, file_len <= mem_len */
    uint64_t vaddr;
    uint64_t mem_len;
    const uint8_t *data;
    size_t file_len;
    uint32_t flags; /* ELF_PF_* */
    uint64_t align;
};
#define ELF_PF_X 1
#define ELF_PF_W 2
#define ELF_PF_R 4

struct elf_section {
    uint32_t type; /* ELF_SHT_* */
    uint64_t flags;
    const uint8_t *data; /* NULL: no bytes in the file, or out of bounds */
    size_t len;
    uint32_t link, info;
    size_t entry_len; /* at least 1 */
};
#define ELF_SHT_SYMTAB 2
#define ELF_SHT_RELA 4
#define ELF_SHT_REL 9
#define ELF_SHF_ALLOC 2

struct elf_functions {
    const uint8_t *index; /* numbers of symbols, by ascending address */
    size_t count;         /* number of entries in index */
    struct elf_section symbols, strings;
};

struct elf_reloc {
    uint64_t offset; /* address, as linked */
    unsigned type;
};

/* Returns a 32-bit number at an address of any alignment. */
static inline uint32_t elf_get32(const uint8_t *p)
{
    uint32_t value;

    __builtin_memcpy(&value, p,
                     sizeof(value)); /* one instruction: CPU and file are little-endian */
    return value;
}

/* Returns 0, or -ENOEXEC: not an ELF executable of this machine and class. */
int elf_open(struct elf_image *elf, const uint8_t *base, size_t len, uint16_t machine,
             uint8_t class);
/* Reads program header i. Returns 1: a loadable segment (in *seg), 0: another kind, -ENOEXEC:
 * damaged. */
int elf_segment(const struct elf_image *elf, unsigned i, struct elf_segment *seg);
bool elf_section(const struct elf_image *elf, unsigned i, struct elf_section *sec);
/* Reads entry i of a REL or RELA section. Returns false past its end. */
bool elf_reloc(const struct elf_image *elf, const struct elf_section *sec, size_t i,
               struct elf_reloc *reloc);
/* Returns the section that begins with this magic number and is not loaded, and its length, at
 * least 4; or NULL. Such a section is a table that was made with the boot image. */
const uint8_t *elf_table(const struct elf_image *elf, uint32_t magic, size_t *len);
/* Finds a program's index of functions (abi/functions.h) and its symbols. Returns false if it has
 * none. */
bool elf_functions_open(const struct elf_image *elf, struct elf_functions *f);
/* Returns the name, in the file, of the function that covers addr, as linked, and the function's
 * start, or NULL. Takes O(log n) steps. */
const char *elf_function(const struct elf_image *elf, const struct elf_functions *f, uint64_t addr,
                         uint64_t *start);

#endif

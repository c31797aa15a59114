/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkreloc: the relocation table (abi/reloc.h) of a program that was linked with --emit-relocs.
 *
 *   mkreloc PROGRAM TABLE   writes the table as it goes into the program's ELF in a boot image
 *
 * Refuses what the target refuses: a relocation of a kind that can't be applied when text and data
 * move apart, and a word outside the file bytes of the segments.
 */
#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/reloc/table.h"

enum { SEGMENTS_MOST = 16 };

struct program {
    const char *path;
    Elf *elf;
    GElf_Phdr segments[SEGMENTS_MOST];
    unsigned nsegments;
    struct reloc_place *places;
    size_t nplaces;
};

static void reloc_open_program(struct program *p, const char *path)
{
    int fd = open(path, O_RDONLY);
    size_t n = 0;
    GElf_Phdr h;

    elf_version(EV_CURRENT);
    *p = (struct program){.path = path, .elf = elf_begin(fd, ELF_C_READ, NULL)};
    if (fd < 0 || !p->elf || gelf_getclass(p->elf) != ELFCLASS32 || elf_getphdrnum(p->elf, &n)) {
        errx(1, "%s: not a 32-bit ELF file", path);
    }
    for (size_t i = 0; i < n && gelf_getphdr(p->elf, (int)i, &h); i++) {
        if (h.p_type == PT_LOAD && h.p_memsz > 0) {
            if (p->nsegments == SEGMENTS_MOST) {
                errx(1, "%s: too many segments", path);
            }
            p->segments[p->nsegments++] = h;
        }
    }
}

/* Returns the segment that an address moves with, or NULL: the one that has it, else one that ends
 * there. */
static const GElf_Phdr *pointed_into(const struct program *p, uint32_t address)
{
    const GElf_Phdr *ends = NULL;

    for (unsigned i = 0; i < p->nsegments; i++) {
        const GElf_Phdr *s = &p->segments[i];
        uint64_t offset = address - s->p_vaddr;
        if (offset < s->p_memsz) {
            return s;
        }
        ends = offset == s->p_memsz ? s : ends;
    }
    return ends;
}

/* Returns the segment whose file bytes have the whole word. */
static const GElf_Phdr *reloc_segment_of(const struct program *p, uint32_t address)
{
    for (unsigned i = 0; i < p->nsegments; i++) {
        const GElf_Phdr *s = &p->segments[i];
        uint64_t offset = address - s->p_vaddr;
        if (offset < s->p_filesz && s->p_filesz - offset >= sizeof(uint32_t)) {
            return s;
        }
    }
    errx(1, "%s: the word at %#x is not in the file", p->path, address);
}

static uint32_t reloc_word_at(const struct program *p, const GElf_Phdr *s, uint32_t address)
{
    size_t len, at = s->p_offset + (address - s->p_vaddr);
    const uint8_t *file = (const uint8_t *)elf_rawfile(p->elf, &len);

    if (!file || at > len || len - at < sizeof(uint32_t)) {
        errx(1, "%s: cut short", p->path);
    }
    return file[at] | file[at + 1] << 8 | file[at + 2] << 16 | (uint32_t)file[at + 3] << 24;
}

static void note_word(struct program *p, uint32_t address)
{
    const GElf_Phdr *in = reloc_segment_of(p, address);
    const GElf_Phdr *to = pointed_into(p, reloc_word_at(p, in, address));

    if (!to) {
        return; /* a weak symbol that nobody defines, a number: it stays */
    }
    p->places = realloc(p->places, (p->nplaces + 1) * sizeof(*p->places));
    if (!p->places) {
        errx(1, "no memory");
    }
    p->places[p->nplaces++] = (struct reloc_place){(uint32_t)in->p_vaddr, (uint32_t)to->p_vaddr,
                                                   (uint32_t)(address - in->p_vaddr)};
}

/* Returns whether a relocation means a word with an address; the others are between places of the
 * text, which moves as a whole. The same as in kernel/arch/armv7m/elf.c. */
static bool is_word(const struct program *p, unsigned type)
{
    static const unsigned within[] = {R_ARM_NONE,
                                      R_ARM_THM_PC22,
                                      R_ARM_THM_PC8,
                                      R_ARM_CALL,
                                      R_ARM_JUMP24,
                                      R_ARM_THM_JUMP24,
                                      R_ARM_V4BX,
                                      R_ARM_PREL31,
                                      R_ARM_THM_JUMP19,
                                      R_ARM_THM_JUMP6,
                                      R_ARM_THM_ALU_PREL_11_0,
                                      R_ARM_THM_PC12,
                                      R_ARM_THM_PC11,
                                      R_ARM_THM_PC9,
                                      R_ARM_TLS_LE32};

    for (unsigned i = 0; i < sizeof(within) / sizeof(*within); i++) {
        if (type == within[i]) {
            return false;
        }
    }
    if (type != R_ARM_ABS32 && type != R_ARM_TARGET1) {
        errx(1, "%s: a relocation of type %u can't be applied when it is spawned", p->path, type);
    }
    return true;
}

static void note_section(struct program *p, Elf_Scn *section, const GElf_Shdr *h)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Shdr target;
    GElf_Rel rel;

    if (!gelf_getshdr(elf_getscn(p->elf, h->sh_info), &target) || !(target.sh_flags & SHF_ALLOC)) {
        return;
    }
    for (int i = 0; data && gelf_getrel(data, i, &rel); i++) {
        if (is_word(p, (unsigned)GELF_R_TYPE(rel.r_info))) {
            note_word(p, (uint32_t)rel.r_offset);
        }
    }
}

int main(int argc, char **argv)
{
    struct program p;
    Elf_Scn *section = NULL;
    GElf_Shdr h;
    size_t len;

    if (argc != 3) {
        fprintf(stderr, "usage: mkreloc PROGRAM TABLE\n");
        return 2;
    }
    reloc_open_program(&p, argv[1]);
    while ((section = elf_nextscn(p.elf, section)) && gelf_getshdr(section, &h)) {
        if (h.sh_type == SHT_RELA) {
            errx(1, "%s: has relocations with addends", argv[1]);
        }
        if (h.sh_type == SHT_REL) {
            note_section(&p, section, &h);
        }
    }
    uint8_t *table = reloc_table_make(p.places, p.nplaces, &len);
    if (!table) {
        errx(1, "%s: two relocations overlap", argv[1]);
    }
    FILE *out = fopen(argv[2], "wb");
    if (!out || fwrite(table, 1, len, out) != len || fclose(out)) {
        err(1, "%s", argv[2]);
    }
    return 0;
}

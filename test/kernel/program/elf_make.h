/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a small 32- or 64-bit ELF executable: two segments, symbols and their index, one
 * relocation section. */
#ifndef TEST_KERNEL_PROGRAM_ELF_MAKE_H
#define TEST_KERNEL_PROGRAM_ELF_MAKE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "abi/functions.h"

#define MADE_TEXT 0x01000000u
#define MADE_DATA 0x10000000u
#define MADE_TEXT_LEN 64
#define MADE_DATA_LEN 32
#define MADE_BSS_LEN 100
#define MADE_TABLE 0x11111111u /* the magic number that its table begins with */

/* One file, all at fixed places, so that both classes are the same code. */
struct made32 {
    Elf32_Ehdr header;
    Elf32_Phdr segments[2];
    Elf32_Shdr sections[7]; /* none, .text, .rel.text, .symtab, .strtab, a table, an index */
    Elf32_Rel relocs[2];
    Elf32_Sym symbols[3];
    char strings[16];      /* "\0main\0helper" */
    uint32_t functions[3]; /* abi/functions.h */
    uint32_t text[MADE_TEXT_LEN / 4];
    uint32_t data[MADE_DATA_LEN / 4];
};
struct made64 {
    Elf64_Ehdr header;
    Elf64_Phdr segments[2];
    Elf64_Shdr sections[7];
    Elf64_Rel relocs[2];
    Elf64_Sym symbols[3];
    char strings[16];
    uint32_t functions[3];
    uint32_t text[MADE_TEXT_LEN / 4];
    uint32_t data[MADE_DATA_LEN / 4];
};

#define MAKE(bits, machine_number, class_number) \
    static inline void make_elf##bits(struct made##bits *m, uint64_t text_at, uint64_t data_at) \
    { \
        memset(m, 0, sizeof(*m)); \
        memcpy(m->header.e_ident, ELFMAG, SELFMAG); \
        m->header.e_ident[EI_CLASS] = (class_number); \
        m->header.e_ident[EI_DATA] = ELFDATA2LSB; \
        m->header.e_type = ET_EXEC; \
        m->header.e_machine = (machine_number); \
        m->header.e_entry = text_at + 8; \
        m->header.e_phoff = offsetof(struct made##bits, segments); \
        m->header.e_phentsize = sizeof(m->segments[0]); \
        m->header.e_phnum = 2; \
        m->header.e_shoff = offsetof(struct made##bits, sections); \
        m->header.e_shentsize = sizeof(m->sections[0]); \
        m->header.e_shnum = 7; \
        m->segments[0].p_type = m->segments[1].p_type = PT_LOAD; \
        m->segments[0].p_flags = PF_R | PF_X; \
        m->segments[0].p_offset = offsetof(struct made##bits, text); \
        m->segments[0].p_vaddr = text_at; \
        m->segments[0].p_filesz = m->segments[0].p_memsz = MADE_TEXT_LEN; \
        m->segments[1].p_flags = PF_R | PF_W; \
        m->segments[1].p_offset = offsetof(struct made##bits, data); \
        m->segments[1].p_vaddr = data_at; \
        m->segments[1].p_filesz = MADE_DATA_LEN; \
        m->segments[1].p_memsz = MADE_DATA_LEN + MADE_BSS_LEN; \
        m->sections[1].sh_type = SHT_PROGBITS; \
        m->sections[1].sh_flags = SHF_ALLOC; \
        m->sections[1].sh_offset = offsetof(struct made##bits, text); \
        m->sections[1].sh_size = MADE_TEXT_LEN; \
        m->sections[2].sh_type = SHT_REL; \
        m->sections[2].sh_info = 1; \
        m->sections[2].sh_offset = offsetof(struct made##bits, relocs); \
        m->sections[2].sh_size = sizeof(m->relocs); \
        m->sections[2].sh_entsize = sizeof(m->relocs[0]); \
        m->relocs[0].r_offset = text_at + 16; \
        m->relocs[0].r_info = R_ARM_ABS32; \
        m->relocs[1].r_offset = text_at + 20; \
        m->relocs[1].r_info = R_ARM_ABS32; \
        m->text[4] = (uint32_t)data_at + 4; \
        m->text[5] = (uint32_t)text_at + 9; \
        m->sections[3].sh_type = SHT_SYMTAB; \
        m->sections[3].sh_link = 4; \
        m->sections[3].sh_offset = offsetof(struct made##bits, symbols); \
        m->sections[3].sh_size = sizeof(m->symbols); \
        m->sections[3].sh_entsize = sizeof(m->symbols[0]); \
        m->sections[4].sh_type = SHT_STRTAB; \
        m->sections[4].sh_offset = offsetof(struct made##bits, strings); \
        m->sections[4].sh_size = sizeof(m->strings); \
        m->sections[5].sh_type = SHT_PROGBITS; \
        m->sections[5].sh_offset = offsetof(struct made##bits, data[1]); \
        m->sections[5].sh_size = 16; \
        m->sections[6].sh_type = SHT_PROGBITS; \
        m->sections[6].sh_offset = offsetof(struct made##bits, functions); \
        m->sections[6].sh_size = sizeof(m->functions); \
        m->functions[0] = FUNCTIONS_MAGIC; \
        m->functions[1] = 1; \
        m->functions[2] = 2; \
        memcpy(m->strings, "\0main\0helper", 13); \
        m->symbols[1].st_name = 1; \
        m->symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC); \
        m->symbols[1].st_value = text_at + 8 + ((machine_number) == EM_ARM); \
        m->symbols[2].st_name = 6; \
        m->symbols[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC); \
        m->symbols[2].st_value = text_at + 40; \
        for (unsigned i = 0; i < MADE_DATA_LEN / 4; i++) { \
            m->data[i] = 0x11111111u * i; \
        } \
    }
MAKE(32, EM_ARM, ELFCLASS32)
MAKE(64, EM_AARCH64, ELFCLASS64)

#endif

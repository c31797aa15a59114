/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: the accepted ELF files, and the effect of their relocations when text and data are moved
 * by different distances. Only words with an absolute address change. References inside the text
 * stay as they are; a file that would need more is refused at spawn.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/elf.h"

#define EM_ARM 40
#define ELFCLASS32 1

enum {
    R_ARM_NONE = 0,
    R_ARM_ABS32 = 2,
    R_ARM_THM_CALL = 10,
    R_ARM_THM_PC8 = 11,
    R_ARM_CALL = 28,
    R_ARM_JUMP24 = 29,
    R_ARM_THM_JUMP24 = 30,
    R_ARM_TARGET1 = 38,
    R_ARM_V4BX = 40,
    R_ARM_PREL31 = 42,
    R_ARM_THM_JUMP19 = 51,
    R_ARM_THM_JUMP6 = 52,
    R_ARM_THM_ALU_PREL_11_0 = 53,
    R_ARM_THM_PC12 = 54,
    R_ARM_THM_JUMP11 = 102,
    R_ARM_THM_JUMP8 = 103,
    R_ARM_TLS_LE32 = 108,
};

uint16_t arch_elf_machine(void)
{
    return EM_ARM;
}

uint8_t arch_elf_class(void)
{
    return ELFCLASS32;
}

bool arch_elf_relocates(void)
{
    return true;
}

int arch_elf_reloc_kind(unsigned r_type)
{
    switch (r_type) {
    case R_ARM_ABS32:
    case R_ARM_TARGET1:
        return ELF_RELOCATE_WORD;
    case R_ARM_NONE:
    case R_ARM_THM_CALL:
    case R_ARM_THM_PC8:
    case R_ARM_CALL:
    case R_ARM_JUMP24:
    case R_ARM_THM_JUMP24:
    case R_ARM_V4BX:
    case R_ARM_PREL31:
    case R_ARM_THM_JUMP19:
    case R_ARM_THM_JUMP6:
    case R_ARM_THM_ALU_PREL_11_0:
    case R_ARM_THM_PC12:
    case R_ARM_THM_JUMP11:
    case R_ARM_THM_JUMP8:
    case R_ARM_TLS_LE32:
        return 0;
    default:
        return -ENOEXEC;
    }
}

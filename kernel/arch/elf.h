/* SPDX-License-Identifier: BSD-2-Clause */
/* The port interface: which ELF programs the CPU runs. kernel/arch/cpu.h explains the marks. */
#ifndef KERNEL_ARCH_ELF_H
#define KERNEL_ARCH_ELF_H

#include <stdbool.h>
#include <stdint.h>

/* Return the accepted e_machine, and the class (1: 32-bit, 2: 64-bit). [cpu, boot] */
uint16_t arch_elf_machine(void);
uint8_t arch_elf_class(void);
/* Returns true if programs are relocated at spawn (MPU). [cpu, boot] */
bool arch_elf_relocates(void);
/* Only used if arch_elf_relocates(). Returns 0 (ignore), ELF_RELOCATE_WORD, or a negative value if
 * the relocation type is unsupported. [cpu, boot] */
int arch_elf_reloc_kind(unsigned r_type);
#define ELF_RELOCATE_WORD 1 /* adds the segment's displacement to the 32-bit word */

#endif

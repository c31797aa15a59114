/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assembler macros: the path from 32-bit protected mode, without paging, to 64-bit mode on the boot
 * map (boot.S), shared by the first CPU and the others.
 */
#ifndef KERNEL_ARCH_X86_64_LONG_MODE_H
#define KERNEL_ARCH_X86_64_LONG_MODE_H

#include "kernel/arch/x86_64/shared.h"

/* clang-format off */

/* Continues after itself, at the kernel's virtual address, with a 64-bit code segment. A global
 * descriptor table that has it must be loaded. Changes rax, rcx, rdx. */
    .macro enter_long_mode code_segment
    mov $(boot_top - KERNEL_VIRT), %eax
    mov %eax, %cr3
    mov $BOOT_CR4, %eax
    mov %eax, %cr4
    mov $MSR_EFER, %ecx
    rdmsr
    or $BOOT_EFER, %eax
    wrmsr
    mov $BOOT_CR0, %eax
    mov %eax, %cr0
    ljmp $\code_segment, $(1f - KERNEL_VIRT)
    .code64
1:  mov $2f, %rax
    jmp *%rax
2:
    .endm

/* No data segment is used in 64-bit mode. Sets rax to 0. */
    .macro clear_segments
    xor %eax, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    mov %eax, %fs
    mov %eax, %gs
    .endm

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first instructions: from a PVH or a Multiboot2 loader (both: 32-bit protected mode, no
 * paging, at the physical address, ebx: the loader's information) to C at the kernel's virtual one.
 * Position-dependent: the image is loaded where it is linked.
 */
#include "kernel/arch/x86_64/long_mode.h"

#define PHYS(symbol) (symbol - KERNEL_VIRT)
#define EARLY 0x83             /* 2 MB block, writable, valid */

    .section .note.pvh, "a", @note
    .long 4, 8, 18 /* XEN_ELFNOTE_PHYS32_ENTRY */
    .asciz "Xen"
    .quad PHYS(_start)

/* The header that Multiboot2 loaders search for in the first 32 KB of the file: this CPU, protected
 * mode; a linear framebuffer with 32 bits per pixel, if available. */
    .section .head, "a", @progbits
    .balign 8
multiboot2:
    .long 0xe85250d6, 0, multiboot2_end - multiboot2
    .long -(0xe85250d6 + (multiboot2_end - multiboot2))
    .word 5, 1 /* framebuffer, optional */
    .long 20, 1024, 768, 32
    .balign 8
    .word 0, 0
    .long 8
multiboot2_end:

    .section .text.boot, "ax", @progbits
    .code32
    .global _start
_start:
    cli
    cld
    /* Multiboot2's information may be anywhere below 4 GB: the map has this copy of it. */
    cmpl $LOADER_PVH_MAGIC, (%ebx)
    je 1f
    mov $LOADER_INFO_MOST, %ecx
    cmp %ecx, (%ebx) /* its size */
    ja 2f
    mov (%ebx), %ecx
2:  mov %ebx, %esi
    mov $PHYS(loader_info), %edi
    mov %edi, %ebx
    rep movsb
1:  mov %ebx, %esi
    lgdt PHYS(boot_gdt_pointer)
    enter_long_mode SEL_KERNEL_CODE
    mov %esi, %ebx
    clear_segments
    mov $__bss_start, %rdi
    mov $__bss_end, %rcx
    sub %rdi, %rcx
    shr $3, %rcx
    rep stosq
    mov $(x86_stacks + KERNEL_STACK_GUARD + KERNEL_STACK_SIZE), %rsp
    fninit
    mov %rbx, %rdi
    xor %ebp, %ebp
    call x86_start
    jmp x86_resume

/* The boot map: the first GB, at its physical address and at KERNEL_VIRT. */
    .section .data.boot, "aw", @progbits
    .balign 4096
    .global boot_top
boot_top:
    .quad PHYS(boot_low) + 3
    .fill 510, 8, 0
    .quad PHYS(boot_high) + 3
boot_low:
    .quad PHYS(boot_blocks) + 3
    .fill 511, 8, 0
boot_high:
    .fill 510, 8, 0
    .quad PHYS(boot_blocks) + 3
    .quad 0
boot_blocks:
    .set at, 0
    .rept 512
    .quad at + EARLY
    .set at, at + 0x200000
    .endr
loader_info:
    .fill LOADER_INFO_MOST, 1, 0
boot_gdt:
    .quad 0
    .quad 0x00af9b000000ffff /* SEL_KERNEL_CODE: 64-bit */
    .quad 0x00cf93000000ffff
boot_gdt_pointer:
    .word 23
    .long PHYS(boot_gdt)

    .section .note.GNU-stack, "", @progbits

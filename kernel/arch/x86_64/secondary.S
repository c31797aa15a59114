/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The start of another CPU (cpus.c): in real mode, in a copy of x86_trampoline at X86_TRAMPOLINE,
 * over the boot map to the kernel's own one and to C on a stack. A CPU that starts when it is no
 * longer expected stops here.
 */
#include ARCH_OFFSETS_H
#include "kernel/arch/x86_64/long_mode.h"

#define PHYS(symbol) (symbol - KERNEL_VIRT)
#define SEL_CODE 0x08
#define SEL_DATA 0x10
#define SEL_CODE32 0x18
#define TOPOLOGY 0xb /* CPUID's leaf with 32-bit identifiers; EBX 0: not available */

    .section .text.boot, "ax", @progbits
    .code16
    .balign 16
    .global x86_trampoline, x86_trampoline_end
x86_trampoline:
    cli
    cld
    mov %cs, %ax
    mov %ax, %ds
    lgdtl trampoline_gdt_pointer - x86_trampoline
    mov $0x11, %eax /* ET, PE */
    mov %eax, %cr0
    ljmpl $SEL_CODE32, $PHYS(secondary)
    .balign 4
trampoline_gdt_pointer:
    .word 31
    .long PHYS(secondary_gdt)
x86_trampoline_end:

    .code32
secondary:
    mov $SEL_DATA, %ax
    mov %ax, %ds
    mov %ax, %es
    mov %ax, %ss
    xor %eax, %eax
    cpuid
    cmp $TOPOLOGY, %eax
    jb id_of_8_bits
    mov $TOPOLOGY, %eax
    xor %ecx, %ecx
    cpuid
    test %ebx, %ebx
    mov %edx, %ebx /* the local APIC's identifier */
    jnz id_is_known
id_of_8_bits:
    mov $1, %eax
    cpuid
    shr $24, %ebx
id_is_known:
    mov %ebx, %eax
    or $X86_CPU_WANTED, %eax
    mov %ebx, %ecx
    or $X86_CPU_TAKEN, %ecx
    lock cmpxchg %ecx, PHYS(x86_cpu_ticket)
    jne nobody_waits
    enter_long_mode SEL_CODE
    clear_segments
    mov x86_kernel_cr3, %rax
    mov %rax, %cr3
    mov x86_starting + STARTING_STACK, %rsp
    mov x86_starting + STARTING_NUMBER, %edi
    fninit
    xor %ebp, %ebp
    call x86_start_secondary
    jmp x86_resume

    .code32
nobody_waits:
    cli
    hlt
    jmp nobody_waits

    .section .data.boot, "aw", @progbits
    .balign 8
secondary_gdt:
    .quad 0
    .quad 0x00af9b000000ffff
    .quad 0x00cf93000000ffff
    .quad 0x00cf9b000000ffff

    .section .note.GNU-stack, "", @progbits

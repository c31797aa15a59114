/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first bytes of the kernel's image, and the entry points of its CPUs.
 *
 * kernel8.img: the firmware (and QEMU, of a raw image) loads it at 0x80000 and enters CPU 0 at this
 * code, at EL2; the others wait in the firmware's spin table until arch_cpu_start() writes this
 * file's raspi3_secondary there. An ELF file, from QEMU or a debug probe, is entered by all CPUs at
 * EL3: this file then does the firmware's work, and parks the others itself.
 */
#define SCR_EL2_IS_64 0x5b1 /* RW, HCE, SMD, RES1, NS: EL2 and below are AArch64, not secure */
#define SPSR_EL2H 0x3c9     /* all masked */
#define CPU_MASK 3

    .section .head, "ax", %progbits
    .global raspi3_start
raspi3_start:
    mrs x1, CurrentEL
    cmp x1, #(3 << 2)
    b.eq 1f
    b _start
1:  mov x1, #SCR_EL2_IS_64
    msr scr_el3, x1
    msr cptr_el3, xzr
    mov x1, #SPSR_EL2H
    msr spsr_el3, x1
    adr x1, 2f
    msr elr_el3, x1
    eret
2:  mov x0, #0 /* no device tree */
    mrs x1, mpidr_el1
    and x1, x1, #CPU_MASK
    cbnz x1, 3f
    b _start
3:  adrp x2, raspi3_parked
    add x2, x2, :lo12:raspi3_parked
4:  wfe
    ldr x3, [x2, x1, lsl #3]
    cbz x3, 4b
    br x3

/* The address to which arch_cpu_start() sends a CPU: a64_secondary needs its number in x0. */
    .global raspi3_secondary
raspi3_secondary:
    mrs x0, mpidr_el1
    and x0, x0, #CPU_MASK
    b a64_secondary

    .section .data, "aw", %progbits
    .balign 64
    .global raspi3_parked
raspi3_parked: /* by number: where a CPU that entered at EL3 continues; 0: it waits */
    .fill 4, 8, 0

    .section .note.GNU-stack, "", %progbits

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first instructions of every CPU: from EL2 or EL1, MMU off, at the physical address, to C at
 * the kernel's virtual one. Position-independent up to the jump marked "high".
 *
 * CPU 0 is started by the loader (its x0 is kept for the board), the others by the board's
 * arch_cpu_start() (x0: their number). The board supplies the boot map, a64_boot_l1. It serves both
 * halves: as identity map in TTBR0 and, because KERNEL_VIRT is a multiple of 512 GB, as kernel map
 * in TTBR1.
 */
#include "kernel/arch/aarch64/shared.h"

/* RES1 bits, M, C, SA, SA0, I, DZE, no WFI and WFE traps */
#define SCTLR_VALUE 0x30d5501d
/* 39-bit halves, 4 KB granules, tables inner-shareable write-back; IPS is added */
#define TCR_VALUE ((25 << 0) | (1 << 8) | (1 << 10) | (3 << 12) | \
                   (25 << 16) | (1 << 24) | (1 << 26) | (3 << 28) | (2 << 30))

    .section .text.boot, "ax", %progbits
    .global _start
_start:
    msr daifset, #15
    mov x20, x0
    mov x21, #0
    bl a64_to_el1
    adrp x0, a64_boot_l1
    add x0, x0, :lo12:a64_boot_l1
    mov x1, x0
    bl a64_mmu_on
    ldr x0, =1f
    br x0
1:  /* high */
    ldr x0, =__bss_start
    ldr x1, =__bss_end
2:  cmp x0, x1
    b.hs 3f
    stp xzr, xzr, [x0], #16
    b 2b
3:  adrp x1, a64_started_at_el2
    str x22, [x1, :lo12:a64_started_at_el2]
    adrp x1, a64_loader_x0
    str x20, [x1, :lo12:a64_loader_x0]
    bl a64_set_stack
    bl a64_start
    b a64_resume

    .global a64_secondary
a64_secondary:
    msr daifset, #15
    mov x21, x0
    bl a64_to_el1
    adrp x0, a64_boot_l1
    add x0, x0, :lo12:a64_boot_l1
    adrp x1, a64_kernel_l1
    ldr x1, [x1, :lo12:a64_kernel_l1]
    bl a64_mmu_on
    ldr x0, =1f
    br x0
1:  /* high */
    bl a64_set_stack
    mov x0, x21
    bl a64_start_secondary
    b a64_resume

/* Leaves EL2 if the loader started the CPU there. x22: 1 if it did. Clobbers x0. */
a64_to_el1:
    mov x22, #0
    mrs x0, CurrentEL
    cmp x0, #(2 << 2)
    b.ne 1f
    mov x22, #1
    mov x0, #(1 << 31) /* EL1 is AArch64, nothing is trapped */
    msr hcr_el2, x0
    mov x0, #3 /* timers and counters belong to EL1 */
    msr cnthctl_el2, x0
    msr cntvoff_el2, xzr
    mov x0, #0x33ff
    msr cptr_el2, x0
    mrs x0, id_aa64dfr0_el1
    /* performance monitors: 1 to 14; other values: none of the architecture's */
    ubfx x0, x0, #8, #4
    sub x0, x0, #1
    cmp x0, #14
    mov x0, #0
    b.hs 2f
    mrs x0, pmcr_el0
    ubfx x0, x0, #11, #5
2:  msr mdcr_el2, x0 /* EL1 has all counters, and no debug register is trapped */
    msr hstr_el2, xzr
    mrs x0, midr_el1
    msr vpidr_el2, x0
    mrs x0, mpidr_el1
    msr vmpidr_el2, x0
    mov x0, #0x3c5 /* EL1h, all masked */
    msr spsr_el2, x0
    adr x0, 1f
    msr elr_el2, x0
    ldr x0, =(SCTLR_VALUE & ~5) /* without M and C */
    msr sctlr_el1, x0
    eret
1:  ret

/* x0: TTBR0, x1: TTBR1. Returns with the MMU on, still at the physical address. */
a64_mmu_on:
    msr ttbr0_el1, x0
    msr ttbr1_el1, x1
    ldr x2, =MAIR_VALUE
    msr mair_el1, x2
    ldr x2, =TCR_VALUE
    mrs x3, id_aa64mmfr0_el1
    and x3, x3, #7 /* PARange, at most 256 TB: the value for IPS */
    cmp x3, #5
    mov x4, #5
    csel x3, x3, x4, ls
    bfi x2, x3, #32, #3
    mrs x3, id_aa64mmfr0_el1
    ubfx x3, x3, #4, #4 /* ASIDBits: 2 means 16 bits */
    ubfx x3, x3, #1, #1
    bfi x2, x3, #36, #1 /* AS: a64_asids_of_16_bits() */
    msr tcr_el1, x2
    mov x2, #(1 << 20) /* FP traps from EL0 only */
    msr cpacr_el1, x2
    msr mdscr_el1, xzr
    mov x2, #2 /* EL0 reads CNTVCT, nothing else */
    msr cntkctl_el1, x2
    msr tpidr_el0, xzr
    msr tpidrro_el0, xzr
    ldr x2, =a64_vectors
    msr vbar_el1, x2
    dsb sy
    tlbi vmalle1
    ic iallu
    dsb nsh
    isb
    ldr x2, =SCTLR_VALUE
    msr sctlr_el1, x2
    isb
    ret

/* x21: CPU number. Sets sp to the top of that CPU's stack, less the 16 bytes that the entry code
 * keeps. */
a64_set_stack:
    msr spsel, #1
    ldr x0, =a64_stacks
    mov x1, #(KERNEL_STACK_SIZE + KERNEL_STACK_GUARD)
    add x2, x21, #1
    madd x0, x1, x2, x0
    sub sp, x0, #16
    stp xzr, xzr, [sp]
    mov x29, xzr
    ret

/*
 * a64_map_switch(l1): makes another table the kernel's, on CPU 0. The two differ in block sizes, so
 * the switch is made from the identity map, while nothing of the high half is in use.
 */
    .global a64_map_switch
a64_map_switch:
    adrp x1, 1f
    add x1, x1, :lo12:1f
    mov x2, #KERNEL_VIRT
    sub x1, x1, x2
    br x1
1:  dsb ish
    msr ttbr1_el1, x0
    isb
    tlbi vmalle1
    dsb nsh
    isb
    ret

    .ltorg

    .section .data, "aw", %progbits
    .balign 8
    .global a64_kernel_l1
a64_kernel_l1: /* physical; read by secondary CPUs before their MMU is on */
    .quad 0

    .section .note.GNU-stack, "", %progbits

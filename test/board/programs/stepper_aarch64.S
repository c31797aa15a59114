/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each class of instruction that a probe may displace: unsigned long step_branches(unsigned long),
 * step_moved(unsigned long), step_atomic(unsigned long *). What they return depends on every one of
 * them. test/board/pid.py probes all.
 */
    .text
    .macro function name
    .balign 4
    .global \name
    .type \name, %function
\name:
    .endm

function step_branches
    stp x29, x30, [sp, #-32]!
    str x19, [sp, #16]
    mov x19, x0
    mov x0, #0
    b 1f
    add x0, x0, #1
1:  add x0, x0, #2
    bl 2f
    b 3f
2:  add x0, x0, #4
    ret
3:  adr x1, 2b
    blr x1
    adr x2, 4f
    br x2
    add x0, x0, #8
4:  cmp x19, #3
    b.eq 5f
    b.hi 6f
    add x0, x0, #16
5:  add x0, x0, #32
6:  cbz x19, 7f
    add x0, x0, #64
7:  cbnz w19, 8f
    add x0, x0, #128
8:  tbz x19, #0, 9f
    add x0, x0, #256
9:  tbnz w19, #1, 10f
    add x0, x0, #512
10: subs x3, x19, #2
    b.lt 11f
    b.ne 12f
11: add x0, x0, #1024
12: adrp x4, step_word
    add x4, x4, :lo12:step_word
    ldr w5, [x4]
    add x0, x0, x5
    ldr x6, 13f
    ldr w7, 13f
    ldrsw x8, 13f
    prfm pldl1keep, 13f
    eor x0, x0, x6
    add x0, x0, x7
    add x0, x0, x8
    adr x9, 14f
    mov x10, x30
    blr x9
    mov x30, x10
    ldr x19, [sp, #16]
    ldp x29, x30, [sp], #32
    ret
14: sub x11, x30, x9
    add x0, x0, x11
    ret
    .balign 8
13: .quad 0x80000001fedcba98
    .size step_branches, . - step_branches

function step_moved
    sub sp, sp, #64
    stp x0, x30, [sp]
    stp x19, x20, [sp, #16]
    adds x1, x0, #5
    cset x2, cs
    adcs x3, x1, x0
    mul x4, x3, x1
    umulh x5, x4, x4
    madd x6, x5, x4, x3
    orr x7, x6, #0xff
    bfi x7, x1, #4, #9
    clz x8, x7
    rbit x9, x8
    csel x10, x9, x7, mi
    ror x11, x10, #7
    udiv x12, x11, x1
    str x12, [sp, #32]
    ldrb w13, [sp, #33]
    ldrsh x14, [sp, #34]
    ldr x15, [sp], #16
    stp x13, x14, [sp, #16]
    ldar x16, [sp]
    stlr x16, [sp]
    mrs x17, tpidr_el0
    msr tpidr_el0, x17
    sub x17, x17, x17
    fmov d0, x12
    scvtf d1, x15
    fadd d2, d0, d1
    fcvtzs x19, d1
    fcmp d1, d0
    cinc x19, x19, gt
    movi v3.4s, #3
    add v4.4s, v3.4s, v2.4s
    str q4, [sp, #32]
    ldr x20, [sp, #32]
    dmb ish
    isb
    yield
    movz x9, #0x1234, lsl #16
    movk x9, #0x5678
    movn x10, #7
    extr x9, x9, x10, #12
    ccmp x9, x10, #4, ne
    cset x10, eq
    add x0, x1, x2
    eor x0, x0, x3
    add x0, x0, x6, lsl #3
    eor x0, x0, x7
    add x0, x0, x8, uxtb
    eor x0, x0, x11
    add x0, x0, x13
    add x0, x0, x14
    eor x0, x0, x17
    add x0, x0, x19
    eor x0, x0, x20
    add x0, x0, x9
    add x0, x0, x10
    ldp x19, x20, [sp], #48
    ret
    .size step_moved, . - step_moved

function step_atomic
    mov x2, x0
1:  ldxr x0, [x2]
    add x1, x0, #1
    stxr w3, x1, [x2]
    cbnz w3, 1b
    clrex
    ret
    .size step_atomic, . - step_atomic

/* A loop of `turns`, a kernel call and a load from `at`, while each register that a function keeps,
 * but the frame pointer, has the value 0xa00 + its index in D's uregs[], from
 * step_registers_set on. */
function step_registers
    stp x29, x30, [sp, #-112]!
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    str x1, [sp, #96]
    .irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
    mov x\n, #0xa00 + \n
    .endr
step_registers_set:
    add x0, x0, #1
1:  subs x0, x0, #1
    b.ne 1b
    bl SchedYield
    ldr x1, [sp, #96]
    ldr x1, [x1]
    mov x0, #0x77
    ldp x27, x28, [sp, #80]
    ldp x25, x26, [sp, #64]
    ldp x23, x24, [sp, #48]
    ldp x21, x22, [sp, #32]
    ldp x19, x20, [sp, #16]
    ldp x29, x30, [sp], #112
    ret
    .size step_registers, . - step_registers

/* Its first instruction faults. */
function step_faults
    ldr x0, [x0]
    add x0, x0, #1
    ret
    .size step_faults, . - step_faults

    .section .rodata
    .balign 4
step_word:
    .word 0x1001
    .section .note.GNU-stack, "", %progbits

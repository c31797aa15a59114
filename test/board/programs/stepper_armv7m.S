/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each class of instruction that a probe may displace: unsigned long step_branches(unsigned long),
 * step_moved(unsigned long), step_atomic(unsigned long *), and for Cortex-M step_blocks(unsigned
 * long), of IT blocks. What they return depends on every one of them. test/board/pid.py probes all.
 */
    .syntax unified
    .thumb
    .fpu fpv4-sp-d16
    .macro function name
    .section .text.\name, "ax", %progbits
    .balign 4
    .global \name
    .type \name, %function
    .thumb_func
\name:
    .endm

function step_branches
    push {r4-r7, lr}
    mov r4, r0
    movs r0, #0
    b.n 1f
    adds r0, #1
1:  adds r0, #2
    bl 2f
    b.w 3f
2:  adds r0, #4
    bx lr
3:  adr r1, 2b
    orr r1, r1, #1
    blx r1
    adr r2, 4f
    mov pc, r2
    .balign 4
4:  cmp r4, #3
    beq.n 5f
    bhi.w 6f
    adds r0, #16
5:  adds r0, #32
6:  cbz r4, 7f
    adds r0, #64
7:  cbnz r4, 8f
    adds r0, #128
8:  subs r3, r4, #2
    blt.w 9f
    bne.n 10f
9:  add.w r0, r0, #1024
10: tbb [pc, r4]
11: .byte (12f - 11b) / 2, (13f - 11b) / 2, (14f - 11b) / 2, (13f - 11b) / 2, (12f - 11b) / 2
    .balign 2
12: add.w r0, r0, #2048
13: eor.w r0, r0, #4096
14: tbh [pc, r4, lsl #1]
15: .short (16f - 15b) / 2, (17f - 15b) / 2, (18f - 15b) / 2, (17f - 15b) / 2, (16f - 15b) / 2
16: add.w r0, r0, #8192
17: eor.w r0, r0, #16384
18: adr r5, 19f
    and r6, r4, #1
    ldr.w pc, [r5, r6, lsl #2]
    .balign 4
19: .word 20f + 1, 21f + 1
20: add.w r0, r0, #32768
21: ldr.w r7, =22f + 1
    str r7, [sp, #-4]!
    ldr pc, [sp], #4
    adds r0, #1
22: push {r1, r2, r7}
    adds r7, #24f - 22b
    str r7, [sp, #8]
    ldmia sp!, {r1, r2, pc}
    adds r0, #1
    .balign 4
24: bl 25f
    adr r6, 24b
    subs r3, r6
    add.w r0, r0, r3
    ldr.w pc, 26f
    adds r0, #1
    .balign 4
26: .word 27f + 1
27: adr r6, 28f
    ldmia r6, {r1-r3, pc}
    adds r0, #1
    .balign 4
28: .word 0x1357, 0x2468, 0x3579, 29f + 1, 30f + 1
29: add r0, r1
    eors r0, r2
    add r0, r3
    adr r6, 28b
    mov r5, r6
    ldr pc, [r5, #16]!
    .balign 4
30: sub r5, r5, r6
    add r0, r5
    pop {r4-r7, pc}
25: push {r4, lr}
    mov r3, lr
    bl 31f
    add.w r3, r3, #1
    pop.w {r4, pc}
31: push {r3-r5, lr}
    adds r3, #9
    mov r4, sp
    eors r4, r3
    pop {r3-r5, pc}
    .ltorg
    .size step_branches, . - step_branches

function step_moved
    push {r4-r9, lr}
    sub sp, sp, #36
    adds r1, r0, #5
    adcs r1, r0
    mul r2, r1, r0
    umull r3, r4, r2, r1
    smlal r3, r4, r1, r1
    mla r5, r3, r4, r2
    orr r6, r5, #0xff00ff
    bfi r6, r1, #4, #9
    ubfx r7, r6, #3, #11
    clz r8, r6
    rbit r9, r6
    rev r7, r7
    ror.w r12, r9, #7
    udiv r12, r12, r1
    str.w r12, [sp, #16]
    ldrb.w lr, [sp, #17]
    ldrsh r3, [sp, #18]
    strd r3, lr, [sp, #20]
    ldrd r4, r5, [sp, #20]
    str r5, [sp, #4]!
    ldr r5, [sp], #-4
    stmia.w sp, {r1-r5, r12}
    ldmia.w sp, {r1-r5, r12}
    mov r2, sp
    stmia r2!, {r1, r3}
    ldmdb r2!, {r1, r3}
    mov r4, sp
    subs r2, r4
    push {r0, r2}
    pop {r3, r4}
    ldr r7, 1f
    ldr.w r8, 2f
    ldrd r8, r9, 1f
    ldrh.w r6, 2f
    adr r5, 1f
    mov r4, pc
    subs r5, r4
    add r4, pc
    mov lr, pc
    add.w r4, r4, lr
    vmov s0, r12
    vcvt.f32.s32 s1, s0
    vldr s2, 1f
    vadd.f32 s3, s1, s1
    vcmp.f32 s3, s1
    vmrs APSR_nzcv, fpscr
    adc r1, r1, #3
    vpush {s0-s3}
    vpop {s4-s7}
    vmov r6, s7
    vmov r12, lr, s6, s7
    mrs r2, apsr
    msr apsr_nzcvq, r2
    and r2, r2, #0xf8000000 /* not GE, which others have left */
    sbcs r2, r1
    tst.w r2, #64
    teq r2, r5
    cmp.w r2, r5
    cmn r2, r5
    qadd r9, r8, r9
    sxtah r8, r8, r9
    uxtb r7, r7
    sadd8 r9, r9, r8
    sel r9, r9, r6
    ssat r9, #12, r9
    pkhbt r7, r7, r6, lsl #3
    movw r3, #0x1234
    movt r3, #0x5678
    lsls r3, r1
    dmb
    dsb
    isb
    yield.n
    yield.w
    sub.w r4, r4, r4
    add r0, r1
    eors r0, r2
    add r0, r3
    eors r0, r4
    add r0, r5
    eors r0, r6
    add r0, r7
    add r0, r8
    eor r0, r0, r9
    eor r0, r0, r12
    sub.w lr, lr, lr
    add r0, lr
    add sp, #36
    pop {r4-r9, pc}
    .balign 8
1:  .word 0x3fc01234
2:  .word 0x8765fedc
    .size step_moved, . - step_moved

function step_atomic
    mov.w r2, r0
1:  ldrex r0, [r2]
    add.w r1, r0, #1
    strex r3, r1, [r2]
    cmp.w r3, #0
    bne.w 1b
    clrex
    bx lr
    .size step_atomic, . - step_atomic

/* IT blocks of one to four instructions: flags that stay or change, branches, returns. */
function step_blocks
    push {r4, lr}
    movs r1, #0
    cmp r0, #2
    ite lt
    addlt r1, #1
    addge r1, #2
    itete eq
    moveq r2, #7
    movne r2, #9
    lsleq r1, r1, #3
    lslne r1, r1, #4
    mrs r3, apsr
    eor r1, r1, r3, lsr #28
    cmp r0, #1
    ittt ge
    addge r1, #16
    cmpge r0, #4
    addge r1, #32
    ite hi
    addhi r1, #64
    eorls r1, r2
    cmp r0, #3
    itt ne
    addne r1, r1
    bne 1f
    adds r1, #100
1:  cmp r0, #0
    ittt eq
    moveq r0, r1
    addeq r0, r2
    popeq {r4, pc}
    cmp r0, #3
    it eq
    popeq {r4, pc}
    add r0, r1
    eors r0, r2
    pop {r4, lr}
    cmp r0, r1
    it ls
    bxls lr
    adds r0, #1
    bx lr
    .size step_blocks, . - step_blocks

/* A loop of `turns`, a kernel call and a load from `at`, while each register that a function keeps
 * has the value 0xa00 + its index in D's uregs[], from step_registers_set on. */
function step_registers
    push {r1, r4-r11, lr}
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    mov r\n, #0xa00
    add r\n, #\n
    .endr
step_registers_set:
    adds r0, #1
1:  subs r0, #1
    bne 1b
    bl SchedYield
    ldr r1, [sp]
    ldr r1, [r1]
    movs r0, #0x77
    pop {r1, r4-r11, lr}
    bx lr
    .size step_registers, . - step_registers

/* Its first instruction faults. */
function step_faults
    ldr r0, [r0]
    adds r0, #1
    bx lr
    .size step_faults, . - step_faults

/* Returns its argument, by a load that adds more to the stack pointer than it loads. For a moment
 * that is above the block, whose last words are at r1. */
function step_drops
    mov r12, sp
    adr r2, 1f
    adds r2, #1
    str r2, [r1]
    mov sp, r1
    ldr pc, [sp], #248
    .balign 4
1:  mov sp, r12
    bx lr
    .size step_drops, . - step_drops

    .section .note.GNU-stack, "", %progbits

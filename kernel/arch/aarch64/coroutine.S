/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AArch64: switches between a CPU's kernel stack and that of a long call
 * (kernel/arch/coroutine.h). Kernel context, interrupts masked.
 */
    .text
    .global arch_coroutine_switch
    .type arch_coroutine_switch, %function
arch_coroutine_switch:
    stp x29, x30, [sp, #-96]!
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    mov x2, sp
    str x2, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #16]
    ldp x21, x22, [sp, #32]
    ldp x23, x24, [sp, #48]
    ldp x25, x26, [sp, #64]
    ldp x27, x28, [sp, #80]
    ldp x29, x30, [sp], #96
    ret
    .size arch_coroutine_switch, . - arch_coroutine_switch

    /* A frame pointer of 0 ends a backtrace. */
    .global arch_coroutine_begin
    .type arch_coroutine_begin, %function
arch_coroutine_begin:
    stp xzr, x1, [x0, #-96]!
    stp xzr, xzr, [x0, #16]
    stp xzr, xzr, [x0, #32]
    stp xzr, xzr, [x0, #48]
    stp xzr, xzr, [x0, #64]
    stp xzr, xzr, [x0, #80]
    ret
    .size arch_coroutine_begin, . - arch_coroutine_begin

    .section .note.GNU-stack, "", %progbits

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: switches between the kernel's stack and that of a long call (kernel/arch/coroutine.h).
 * Handler mode, so the stack pointer is MSP: an interrupt meanwhile uses the current stack. An
 * exception returns only on the kernel's own stack.
 */
    .syntax unified
    .thumb

    .section .text.arch_coroutine_switch, "ax", %progbits
    .balign 4
    .global arch_coroutine_switch
    .type   arch_coroutine_switch, %function
    .thumb_func
arch_coroutine_switch:
    push    {r4-r11, lr}
    mov     r2, sp
    str     r2, [r0]
    mov     sp, r1
    pop     {r4-r11, pc}
    .size   arch_coroutine_switch, . - arch_coroutine_switch

    /* Two words of zero keep the stack aligned to 8 bytes; below them are the words that the first
     * switch pops: r4 = entry(), r5-r11 = 0, and the return address. */
    .section .text.arch_coroutine_begin, "ax", %progbits
    .balign 4
    .global arch_coroutine_begin
    .type   arch_coroutine_begin, %function
    .thumb_func
arch_coroutine_begin:
    movs    r2, #0
    str     r2, [r0, #-4]!
    str     r2, [r0, #-4]!
    ldr     r3, =coroutine_enter
    str     r3, [r0, #-4]!
    movs    r3, #7
1:  str     r2, [r0, #-4]!
    subs    r3, #1
    bne     1b
    str     r1, [r0, #-4]!
    bx      lr
    .ltorg
    .size   arch_coroutine_begin, . - arch_coroutine_begin

    /* entry() has no caller: a backtrace ends at it, because 0 is not a return address. */
    .section .text.coroutine_enter, "ax", %progbits
    .balign 4
    .type   coroutine_enter, %function
    .thumb_func
coroutine_enter:
    mov     lr, r5
    bx      r4
    .size   coroutine_enter, . - coroutine_enter

    .section .note.GNU-stack, "", %progbits

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: switches between a CPU's kernel stack and that of a long call
 * (kernel/arch/coroutine.h). Kernel context, interrupts masked.
 */
    .text
    .global arch_coroutine_switch
    .type arch_coroutine_switch, @function
arch_coroutine_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
    .size arch_coroutine_switch, . - arch_coroutine_switch

    /* The first switch returns to entry(); above its address is 0, which ends a backtrace. */
    .global arch_coroutine_begin
    .type arch_coroutine_begin, @function
arch_coroutine_begin:
    lea -64(%rdi), %rax
    xor %edx, %edx
    mov %rdx, (%rax)
    mov %rdx, 8(%rax)
    mov %rdx, 16(%rax)
    mov %rdx, 24(%rax)
    mov %rdx, 32(%rax)
    mov %rdx, 40(%rax)
    mov %rsi, 48(%rax)
    mov %rdx, 56(%rax)
    ret
    .size arch_coroutine_begin, . - arch_coroutine_begin

    .section .note.GNU-stack, "", @progbits

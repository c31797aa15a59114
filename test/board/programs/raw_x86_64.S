/* SPDX-License-Identifier: BSD-2-Clause */
/* struct raw_result raw_call(unsigned number, const uintptr_t args[6]): the result is rax and rdx,
 * which is how the kernel leaves it. */
    .text
    .global raw_call
    .type raw_call, @function
raw_call:
    push %rbx
    mov %edi, %eax
    mov %rsi, %rcx
    mov (%rcx), %rdi
    mov 8(%rcx), %rsi
    mov 16(%rcx), %rdx
    mov 24(%rcx), %r10
    mov 32(%rcx), %r8
    mov 40(%rcx), %rbx
    syscall
    pop %rbx
    ret
    .size raw_call, . - raw_call
    .section .note.GNU-stack, "", @progbits

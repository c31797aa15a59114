/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel-call stubs of x86-64, generated from abi/kercalls.def: number in rax, arguments in rdi,
 * rsi, rdx, r10, r8, r9, `syscall`; the kernel answers in rax (value) and rdx (errno) and keeps
 * what a function keeps. SYSCALL itself takes rcx, in which a function has its fourth argument.
 */
#include "lib/kercall.h"

        .macro  kymo_stub number, name
        .section .text.kymo_raw_\name, "ax", @progbits
        .balign 16
        .global kymo_raw_\name
        .type   kymo_raw_\name, @function
kymo_raw_\name:
        .cfi_startproc
        mov     $\number, %eax
        mov     %rcx, %r10
        syscall
        ret
        .cfi_endproc
        .size   kymo_raw_\name, . - kymo_raw_\name
        .endm

#define KERCALL(number, NAME, ...) kymo_stub number, NAME
#include "abi/kercalls.def"

        .section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct a64_semihost_result a64_semihost_call(op, block): the semihosting trap. x0: the host's
 * result; x1: 1 if there is no host, as shown by the exception that the trap then causes
 * (vectors.S).
 */
    .text
    .global a64_semihost_call
    .global a64_semihost_trap
    .global a64_semihost_absent
    .type a64_semihost_call, %function
a64_semihost_call:
a64_semihost_trap:
    hlt #0xf000
    mov x1, xzr
    ret
a64_semihost_absent:
    mov x0, #-1
    mov x1, #1
    ret
    .size a64_semihost_call, . - a64_semihost_call

    .section .note.GNU-stack, "", %progbits

/* SPDX-License-Identifier: BSD-2-Clause */
/* struct raw_result raw_call(unsigned number, const uintptr_t args[6]): the result is x0 and x1,
 * which is how the kernel leaves it. */
    .text
    .global raw_call
    .type raw_call, %function
raw_call:
    mov x8, x0
    mov x9, x1
    ldp x0, x1, [x9]
    ldp x2, x3, [x9, #16]
    ldp x4, x5, [x9, #32]
    svc #0
    ret
    .size raw_call, . - raw_call
    .section .note.GNU-stack, "", %progbits

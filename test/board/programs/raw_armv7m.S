/* SPDX-License-Identifier: BSD-2-Clause */
/* struct raw_result raw_call(unsigned number, const uintptr_t args[6]): on Cortex-M the struct is
 * returned through r0, number is r1, args r2. */
    .syntax unified
    .thumb
    .text
    .global raw_call
    .type raw_call, %function
    .thumb_func
raw_call:
    push {r4-r7, lr}
    mov r6, r0
    mov r12, r1
    mov r7, r2
    ldmia r7, {r0-r5}
    svc 0
    str r0, [r6]
    str r1, [r6, #4]
    mov r0, r6
    pop {r4-r7, pc}
    .size raw_call, . - raw_call

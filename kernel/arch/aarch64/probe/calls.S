/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that a slot of a function probe calls (slot.c). x30: the return address in the
 * slot. The slot has made A64_PROBE_FRAME bytes of stack and saved x0 and x30 at its start. Every
 * register that a callee may change is saved, not only those that the convention lets a caller
 * keep: the compiler knows which registers its own functions change. Tested by test/board's suite
 * fbt.
 */
#include "kernel/arch/aarch64/shared.h"

    .macro probe_call name, handler
    .section .text.\name, "ax", %progbits
    .global \name
    .type \name, %function
\name:
    stp x1, x2, [sp, #16]
    stp x3, x4, [sp, #32]
    mrs x1, nzcv
    stp x5, x6, [sp, #48]
    stp x7, x8, [sp, #64]
    stp x9, x10, [sp, #80]
    stp x11, x12, [sp, #96]
    stp x13, x14, [sp, #112]
    stp x15, x16, [sp, #128]
    stp x17, x18, [sp, #144]
    stp x30, x1, [sp, #160]
    mov x0, x30
    mov x1, sp
    bl \handler
    ldp x30, x1, [sp, #160]
    ldp x17, x18, [sp, #144]
    ldp x15, x16, [sp, #128]
    ldp x13, x14, [sp, #112]
    ldp x11, x12, [sp, #96]
    ldp x9, x10, [sp, #80]
    ldp x7, x8, [sp, #64]
    ldp x5, x6, [sp, #48]
    msr nzcv, x1
    ldp x3, x4, [sp, #32]
    ldp x1, x2, [sp, #16]
    ret
    .size \name, . - \name
    .endm

    probe_call a64_probe_entry, kernel_probe_entry
    probe_call a64_probe_return, kernel_probe_return

    .section .note.GNU-stack, "", %progbits

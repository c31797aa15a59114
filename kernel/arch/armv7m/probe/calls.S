/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that a slot of a function probe calls (slot.c). lr: the return address in the slot,
 * which has pushed r0 and lr. Every register that a callee may change is saved, also r12 and the
 * flags: the compiler knows which registers its own functions change. Tested by test/board's suite
 * fbt.
 */
    .syntax unified
    .thumb

/* On the stack: flags, r1-r3, r12, back, then the slot's r0 and lr. */
.macro probe_call name, handler
    .section .text.\name, "ax", %progbits
    .balign 4
    .global \name
    .type   \name, %function
    .thumb_func
\name:
    push    {r1-r3, r12, lr}
    mrs     r3, apsr
    mov     r0, lr
    mov     r1, sp
    push    {r3}
    bl      \handler
    pop     {r3}
    msr     apsr_nzcvq, r3
    pop     {r1-r3, r12}
    ldrd    r0, lr, [sp, #4]
    ldr     pc, [sp], #12
    .size   \name, . - \name
.endm

    probe_call armv7m_probe_entry, kernel_probe_entry
    probe_call armv7m_probe_return, kernel_probe_return

    .section .note.GNU-stack, "", %progbits

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unsigned fp_hold(const void *values, unsigned number): fills all FP and SIMD registers from
 * `values` (512 bytes), FPCR's rounding mode and FPSR from its first word, makes that kernel call
 * (no arguments: NOP or SCHED_YIELD) a hundred times, and returns how many registers differ.
 */
    .arch armv8-a+fp+simd
    .text
    .altmacro
    .macro load n
    ldr q\n, [x19, #(\n * 16)]
    .endm
    .macro same n
    mov x2, v\n\().d[0]
    mov x3, v\n\().d[1]
    ldp x4, x5, [x19, #(\n * 16)]
    eor x2, x2, x4
    eor x3, x3, x5
    orr x2, x2, x3
    cmp x2, #0
    cinc w0, w0, ne
    .endm
    .macro each what
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    \what \n
    .endr
    .irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \what \n
    .endr
    .endm

    .global fp_hold
    .type fp_hold, %function
fp_hold:
    stp x29, x30, [sp, #-112]!
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp d8, d9, [sp, #48]
    stp d10, d11, [sp, #64]
    stp d12, d13, [sp, #80]
    stp d14, d15, [sp, #96]
    mov x19, x0
    mov w20, w1
    ldr w22, [x0]
    and w22, w22, #3
    lsl w2, w22, #22
    msr fpcr, x2
    msr fpsr, x22
    each load
    mov w21, #100
1:  mov w8, w20
    svc #0
    subs w21, w21, #1
    b.ne 1b
    mov w0, #0
    each same
    mrs x2, fpcr
    lsr w2, w2, #22
    mrs x3, fpsr
    cmp w2, w22
    cinc w0, w0, ne
    cmp w3, w22
    cinc w0, w0, ne
    msr fpcr, xzr
    ldp d14, d15, [sp, #96]
    ldp d12, d13, [sp, #80]
    ldp d10, d11, [sp, #64]
    ldp d8, d9, [sp, #48]
    ldp x21, x22, [sp, #32]
    ldp x19, x20, [sp, #16]
    ldp x29, x30, [sp], #112
    ret
    .size fp_hold, . - fp_hold

/* unsigned fp_not_zero(void): how many of the registers and FPCR a thread begins with aren't 0. */
    .macro zero n
    mov x2, v\n\().d[0]
    mov x3, v\n\().d[1]
    orr x2, x2, x3
    cmp x2, #0
    cinc w0, w0, ne
    .endm
    .global fp_not_zero
    .type fp_not_zero, %function
fp_not_zero:
    mov w0, #0
    each zero
    mrs x2, fpcr
    cmp x2, #0
    cinc w0, w0, ne
    ret
    .size fp_not_zero, . - fp_not_zero

/* unsigned tls_kept(uintptr_t value, unsigned number): TPIDR_EL0 over a hundred calls; 1 if it was
 * changed. C code must not run in between: its errno is there. */
    .global tls_kept
    .type tls_kept, %function
tls_kept:
    stp x29, x30, [sp, #-48]!
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    mov x19, x0
    mov w20, w1
    mrs x22, tpidr_el0
    msr tpidr_el0, x0
    mov w21, #100
1:  mov w8, w20
    svc #0
    subs w21, w21, #1
    b.ne 1b
    mrs x2, tpidr_el0
    msr tpidr_el0, x22
    cmp x2, x19
    cset w0, ne
    ldp x21, x22, [sp, #32]
    ldp x19, x20, [sp, #16]
    ldp x29, x30, [sp], #48
    ret
    .size tls_kept, . - tls_kept

/* unsigned kernel_addresses(unsigned number): of x2 to x18, how many look like the kernel's after a
 * call. */
    .macro looks n
    lsr x\n, x\n, #39
    cmp x\n, x1
    cinc w0, w0, eq
    .endm
    .global kernel_addresses
    .type kernel_addresses, %function
kernel_addresses:
    mov w8, w0
    svc #0
    mov w0, #0
    mov x1, #0x1ffffff
    .irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
    looks \n
    .endr
    ret
    .size kernel_addresses, . - kernel_addresses
    .section .note.GNU-stack, "", %progbits

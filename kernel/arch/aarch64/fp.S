/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * a64_fp_load(ctx) loads a thread's FP and SIMD registers (a64_fp_save() is in ops.h): kernel
 * context, FP not trapped at EL1 (it never is). Leaves the integer registers that C expects alone.
 */
#include ARCH_OFFSETS_H
#include "kernel/arch/aarch64/shared.h"

    .arch armv8-a+fp+simd
    .text
    .macro all op
    add x1, x0, #CTX_FP
    .irp n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28
    fp_pair \op, \n
    .endr
    \op q30, q31, [x1, #480]
    .endm

    .altmacro
    .macro fp_pair op, n
    fp_pair_ \op, \n, %(\n + 1)
    .endm
    .macro fp_pair_ op, n, m
    \op q\n, q\m, [x1, #(\n * 16)]
    .endm

    .global a64_fp_load
    .type a64_fp_load, %function
a64_fp_load:
    all ldp
    ldr x2, [x0, #CTX_FPSR]
    msr fpsr, x2
    ldr x2, [x0, #CTX_FPCR]
    msr fpcr, x2
    ret
    .size a64_fp_load, . - a64_fp_load

    .section .note.GNU-stack, "", %progbits

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel-call stubs of ARMv7-M, generated from abi/kercalls.def: number in r12, arguments in
 * r0-r3, r4, r5, `svc 0`; the kernel answers in r0 (value) and r1 (errno) and changes nothing else.
 * Calls with up to four arguments cost three instructions.
 */
#include "lib/kercall.h"

        .syntax unified
        .thumb
        .text

        .macro  kymo_stub number, name, nargs
        .section .text.kymo_raw_\name, "ax", %progbits
        .balign 4
        .global kymo_raw_\name
        .type   kymo_raw_\name, %function
        .thumb_func
kymo_raw_\name:
        .cfi_startproc
        .if \nargs > 4
        push    {r4, r5}
        .cfi_adjust_cfa_offset 8
        ldr     r4, [sp, #8]
        .if \nargs > 5
        ldr     r5, [sp, #12]
        .endif
        .endif
        mov     r12, #\number
        svc     0
        .if \nargs > 4
        pop     {r4, r5}
        .cfi_adjust_cfa_offset -8
        .endif
        bx      lr
        .cfi_endproc
        .size   kymo_raw_\name, . - kymo_raw_\name
        .endm

#define A(...) KYMO_COUNT(__VA_ARGS__)
#define KERCALL(number, NAME, handler, flags, args, ...) kymo_stub number, NAME, args
#include "abi/kercalls.def"


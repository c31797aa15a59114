/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel-call stubs of AArch64, generated from abi/kercalls.def: number in x8, arguments in
 * x0-x5, `svc #0`; the kernel answers in x0 (value) and x1 (errno) and keeps what a function keeps.
 */
#include "lib/kercall.h"

        .macro  kymo_stub number, name
        .section .text.kymo_raw_\name, "ax", %progbits
        .balign 4
        .global kymo_raw_\name
        .type   kymo_raw_\name, %function
kymo_raw_\name:
        .cfi_startproc
        mov     x8, #\number
        svc     #0
        ret
        .cfi_endproc
        .size   kymo_raw_\name, . - kymo_raw_\name
        .endm

#define KERCALL(number, NAME, ...) kymo_stub number, NAME
#include "abi/kercalls.def"

        .section .note.GNU-stack, "", %progbits

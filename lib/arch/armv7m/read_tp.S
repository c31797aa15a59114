/* SPDX-License-Identifier: BSD-2-Clause */
/* The compiler calls this to find thread-local variables; it may change nothing but r0. */
        .syntax unified
        .thumb
        .section .text.__aeabi_read_tp, "ax", %progbits
        .global __aeabi_read_tp
        .type   __aeabi_read_tp, %function
        .thumb_func
__aeabi_read_tp:
        ldr     r0, =kymo_thread_pointer
        ldr     r0, [r0]
        bx      lr
        .pool
        .size   __aeabi_read_tp, . - __aeabi_read_tp


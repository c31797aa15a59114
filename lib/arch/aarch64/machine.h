/* SPDX-License-Identifier: BSD-2-Clause */
/* AArch64's part of lib/. Included by lib/machine.h only. */
#ifndef LIB_ARCH_AARCH64_MACHINE_H
#define LIB_ARCH_AARCH64_MACHINE_H

#include <stdint.h>

/* A kernel call's two results come back in x0 and x1: the shape of a two-word struct. */
typedef struct kymo_pair {
    long value;
    long error;
} kymo_pair;
#define KYMO_PAIR_VALUE(p) ((p).value)
#define KYMO_PAIR_ERROR(p) ((int)(p).error)

/* Makes a kernel call of four words in line, for functions that make no other call; number and
 * words are passed as in svc.S. Returns the pair's error and drops the value. The kernel preserves
 * the registers that a function preserves, no more. */
static inline int kymo_error_4(uintptr_t number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    register uintptr_t x3 __asm__("x3") = d;
    register uintptr_t x2 __asm__("x2") = c;
    register uintptr_t x1 __asm__("x1") = b;
    register uintptr_t x0 __asm__("x0") = a;
    register uintptr_t x8 __asm__("x8") = number;

    __asm__ volatile("svc #0"
                     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3), "+r"(x8)
                     :
                     : "x4", "x5", "x6", "x7", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
                       "x16", "x17", "x18", "cc", "memory");
    return (int)x1;
}

#define KYMO_RAW(NAME, number, n) kymo_pair kymo_raw_##NAME(KYMO_WORDS(n)); /* svc.S */

#define KYMO_THREAD_STACK 65536 /* default of pthread_create() */
#define KYMO_THREAD_STACK_MIN 4096
#define KYMO_STACK_MAPPED 1 /* own mapping with an unmapped guard below */
#define KYMO_IO_PORTS 0u    /* I/O ports: none, devices are memory */

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* ARMv7-M's part of lib/. Included by lib/machine.h only. */
#ifndef LIB_ARCH_ARMV7M_MACHINE_H
#define LIB_ARCH_ARMV7M_MACHINE_H

#include <stdint.h>

/* A kernel call's two results come back in r0 and r1: the shape of a 64-bit integer. */
typedef uint64_t kymo_pair;
#define KYMO_PAIR_VALUE(p) ((long)(uint32_t)(p))
#define KYMO_PAIR_ERROR(p) ((int)((p) >> 32))

/* Makes a kernel call of four words in line, for functions that make no other call; number and
 * words are passed as in svc.S. Returns the pair's error and drops the value. */
static inline int kymo_error_4(uintptr_t number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    register uintptr_t r3 __asm__("r3") = d;
    register uintptr_t r2 __asm__("r2") = c;
    register uintptr_t r1 __asm__("r1") = b;
    register uintptr_t r0 __asm__("r0") = a;
    register uintptr_t r12 __asm__("r12") = number;

    __asm__ volatile("svc 0" : "+r"(r0), "+r"(r1) : "r"(r2), "r"(r3), "r"(r12) : "memory");
    return (int)r1;
}

#define KYMO_RAW(NAME, number, n) kymo_pair kymo_raw_##NAME(KYMO_WORDS(n)); /* svc.S */

#define KYMO_THREAD_STACK 4096 /* default of pthread_create() */
#define KYMO_THREAD_STACK_MIN 512
#define KYMO_STACK_MAPPED 0 /* MPU regions are few: stacks come from the heap */
#define KYMO_IO_PORTS 0u    /* I/O ports: none, devices are memory */

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* x86-64's part of lib/. Included by lib/machine.h only. */
#ifndef LIB_ARCH_X86_64_MACHINE_H
#define LIB_ARCH_X86_64_MACHINE_H

#include <stdint.h>

/* A kernel call's two results come back in rax and rdx: the shape of a two-word struct. */
typedef struct kymo_pair {
    long value;
    long error;
} kymo_pair;
#define KYMO_PAIR_VALUE(p) ((p).value)
#define KYMO_PAIR_ERROR(p) ((int)(p).error)

/* A kernel call of four words in line, for functions that make no other call: number and words as
 * svc.S has them. Returns the pair's error; the value is dropped. The kernel keeps what a function
 * keeps, no more. */
static inline int kymo_call_4(uintptr_t number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    register uintptr_t r10 __asm__("r10") = d;
    uintptr_t error = c;

    __asm__ volatile("syscall"
                     : "+a"(number), "+D"(a), "+S"(b), "+d"(error), "+r"(r10)
                     :
                     : "rcx", "r8", "r9", "r11", "cc", "memory");
    return (int)error;
}

#define KYMO_THREAD_STACK 65536 /* default of pthread_create() */
#define KYMO_THREAD_STACK_MIN 4096
#define KYMO_STACK_MAPPED 1    /* own mapping with an unmapped guard below */
#define KYMO_IO_PORTS 0x10000u /* I/O ports; no mapping is below that address */

#endif

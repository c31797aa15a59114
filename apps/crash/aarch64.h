/* SPDX-License-Identifier: BSD-2-Clause */
/* Crashing on AArch64. */
#ifndef APPS_CRASH_AARCH64_H
#define APPS_CRASH_AARCH64_H

#include <stdint.h>

#define CRASH_JUMP_BIT 0
#define CRASH_RETURN_CODE \
    { \
        0xd65f03c0u \
    } /* ret */

static inline void crash_undefined(void)
{
    __asm__ volatile("udf #1");
}

static inline void crash_breakpoint(void)
{
    __asm__ volatile("brk #1");
}

static inline void crash_semihost(void)
{
    __asm__ volatile("mov x0, #0x18\n\tmov x1, #0\n\thlt #0xf000" : : : "x0", "x1", "memory");
}

static inline void crash_privileged(void)
{
    __asm__ volatile("msr daifset, #2\n\tmsr ttbr0_el1, xzr");
}

/* Plain memory may be accessed unaligned, but not by exclusive loads. */
static inline void crash_misaligned(void *at)
{
    __asm__ volatile("ldxr x2, [%0]" : : "r"(at) : "x2", "memory");
}

/* The kernel does not use this stack for a call, so the program uses it itself afterwards. */
static inline void crash_bad_stack(uintptr_t sp)
{
    __asm__ volatile("mov sp, %0\n\tmov x8, #0\n\tsvc #0\n\tstr x0, [sp]"
                     :
                     : "r"(sp)
                     : "x0", "x1", "x8", "memory");
}

#endif

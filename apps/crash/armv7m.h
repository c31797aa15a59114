/* SPDX-License-Identifier: BSD-2-Clause */
/* Crashing on ARMv7-M: instructions of Thumb. */
#ifndef APPS_CRASH_ARMV7M_H
#define APPS_CRASH_ARMV7M_H

#include <stdint.h>

#define CRASH_JUMP_BIT 1u /* Thumb */
#define CRASH_RETURN_CODE \
    { \
        0x47704770u \
    } /* bx lr; bx lr */

static inline void crash_undefined(void)
{
    __asm__ volatile("udf #1");
}

static inline void crash_breakpoint(void)
{
    __asm__ volatile("bkpt #1");
}

static inline void crash_semihost(void)
{
    __asm__ volatile("mov r0, #0x18\n\tmov r1, #0\n\tbkpt #0xab" : : : "r0", "r1", "memory");
}

/* MSR from unprivileged code has no effect here, so this writes a system register instead. */
static inline void crash_privileged(void)
{
    *(volatile uint32_t *)0xe000ed94u = 0; /* MPU_CTRL */
}

static inline void crash_misaligned(void *at)
{
    __asm__ volatile("ldrd r2, r3, [%0]" : : "r"(at) : "r2", "r3", "memory");
}

static inline void crash_bad_stack(uintptr_t sp)
{
    __asm__ volatile("mov sp, %0\n\tmov r12, #0\n\tsvc 0" : : "r"(sp) : "memory");
}

#endif

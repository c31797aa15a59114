/* SPDX-License-Identifier: BSD-2-Clause */
/* Crashing on x86-64. */
#ifndef APPS_CRASH_X86_64_H
#define APPS_CRASH_X86_64_H

#include <stdint.h>

#define CRASH_JUMP_BIT 0
#define CRASH_RETURN_CODE \
    { \
        0xc3u \
    } /* ret */

static inline void crash_undefined(void)
{
    __asm__ volatile("ud2");
}

static inline void crash_breakpoint(void)
{
    __asm__ volatile("int3");
}

/* No emulator of this CPU has semihosting: this instruction is undefined like any other. */
static inline void crash_semihost(void)
{
    __asm__ volatile("ud2");
}

static inline void crash_privileged(void)
{
    __asm__ volatile("cli");
}

/* Plain memory may be accessed unaligned, but not by SSE's aligned loads. */
static inline void crash_misaligned(void *at)
{
    __asm__ volatile("movaps (%0), %%xmm0" : : "r"(at) : "xmm0", "memory");
}

/* The kernel does not use this stack for a call, so the program uses it itself afterwards. */
static inline void crash_bad_stack(uintptr_t sp)
{
    __asm__ volatile("mov %0, %%rsp\n\txor %%eax, %%eax\n\tsyscall\n\tpush %%rax"
                     :
                     : "r"(sp)
                     : "rax", "rcx", "rdx", "r11", "memory");
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the CPU's part by the compiler's predefined macros. */
#ifndef APPS_CRASH_MACHINE_H
#define APPS_CRASH_MACHINE_H

#include <stdint.h>

#if defined(__arm__)
#include "apps/crash/armv7m.h"
#elif defined(__x86_64__)
#include "apps/crash/x86_64.h"
#else
#include "apps/crash/aarch64.h"
#endif

/* Returns the value, so that the compiler can't see where it points. */
static inline uintptr_t crash_launder(uintptr_t value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

#endif

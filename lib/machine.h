/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the CPU's part of lib/ by the compiler's predefined macros. */
#ifndef LIB_MACHINE_H
#define LIB_MACHINE_H

#if defined(__arm__)
#include "lib/arch/armv7m/machine.h"
#elif defined(__aarch64__)
#include "lib/arch/aarch64/machine.h"
#elif defined(__x86_64__)
#include "lib/arch/x86_64/machine.h"
#else
#error "lib/arch has no such CPU"
#endif

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* ARMv7-M's part of lib/. Included by lib/machine.h only. */
#ifndef LIB_ARCH_ARMV7M_MACHINE_H
#define LIB_ARCH_ARMV7M_MACHINE_H

#include <stdint.h>

/* A kernel call's two results come back in r0 and r1: the shape of a 64-bit integer. */
typedef uint64_t kymo_pair;
#define KYMO_PAIR_VALUE(p) ((long)(uint32_t)(p))
#define KYMO_PAIR_ERROR(p) ((int)((p) >> 32))

#define KYMO_THREAD_STACK 4096 /* default of pthread_create() */
#define KYMO_THREAD_STACK_MIN 512
#define KYMO_STACK_MAPPED 0 /* MPU regions are few: stacks come from the heap */

#endif

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

#define KYMO_THREAD_STACK 65536 /* default of pthread_create() */
#define KYMO_THREAD_STACK_MIN 4096
#define KYMO_STACK_MAPPED 1 /* own mapping with an unmapped guard below */

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The C library's <unistd.h>, and QNX's additions. */
#ifndef LIB_UNISTD_H
#define LIB_UNISTD_H

#include_next <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sleeps at least `ms` milliseconds, by CLOCK_MONOTONIC; returns 0. A cancellation point. */
unsigned delay(unsigned ms);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The C library's <unistd.h>, and what QNX has there beside. */
#ifndef LIB_UNISTD_H
#define LIB_UNISTD_H

#include_next <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sleeps at least so many milliseconds, by CLOCK_MONOTONIC; 0. A cancellation point. */
unsigned delay(unsigned ms);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Time conversions shared inside lib/. */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

bool kymo_timespec_ok(const struct timespec *ts);
uint64_t kymo_timespec_ns(const struct timespec *ts);
int kymo_gettimeofday(struct timeval *now);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The C library's <time.h>, with what it shows to other targets only: clocks and sleeping. */
#ifndef LIB_TIME_H
#define LIB_TIME_H

#include_next <time.h>

#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC ((clockid_t)4)
#endif
#undef TIMER_ABSTIME /* the kernel's value (sys/neutrino.h), spelled the same */
#define TIMER_ABSTIME 0x80000000u

int clock_gettime(clockid_t clock, struct timespec *now);
int clock_settime(clockid_t clock, const struct timespec *to);
int nanosleep(const struct timespec *wanted, struct timespec *left);

#endif

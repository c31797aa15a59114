/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library's <time.h>, with what it shows to other targets only: clocks and sleeping. 0, or -1
 * and errno: EINVAL an unknown clock, or a time that is negative or has 10^9 ns or more.
 */
#ifndef LIB_TIME_H
#define LIB_TIME_H

#include_next <time.h>

#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC ((clockid_t)4)
#endif
#undef TIMER_ABSTIME /* the kernel's value (sys/neutrino.h), spelled the same */
#define TIMER_ABSTIME 0x80000000u

/* CLOCK_REALTIME, which begins in 1970 on a board without a clock, and CLOCK_MONOTONIC, since the
 * boot. */
int clock_gettime(clockid_t clock, struct timespec *now);
/* CLOCK_REALTIME only. EPERM: needs ABILITY_CLOCK. */
int clock_settime(clockid_t clock, const struct timespec *to);
/* At least so long, by CLOCK_MONOTONIC. Nothing cuts it short: *left, if not NULL, is 0. A
 * cancellation point. */
int nanosleep(const struct timespec *wanted, struct timespec *left);

#endif

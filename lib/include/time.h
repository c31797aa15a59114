/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library's <time.h>, including what it shows only to other targets: clocks and sleeping.
 * Return 0, or -1 and errno: EINVAL an unknown clock, or a time that is negative or has 10^9 ns or
 * more.
 */
#ifndef LIB_TIME_H
#define LIB_TIME_H

#include_next <time.h>

/*
 * The kernel's values (sys/neutrino.h), spelled identically, replace the C library's:
 * clock_gettime(), TimerTimeout() and the reader of a capture use the same number for a clock.
 */
#undef CLOCK_REALTIME
#undef CLOCK_MONOTONIC
#undef CLOCK_PROCESS_CPUTIME_ID
#undef CLOCK_THREAD_CPUTIME_ID
#undef TIMER_ABSTIME
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 2
#define CLOCK_PROCESS_CPUTIME_ID 3 /* CPU time of the calling process, of the calling thread: */
#define CLOCK_THREAD_CPUTIME_ID 4  /* only for clock_gettime() and clock_getres() */
#define TIMER_ABSTIME 0x80000000u

#ifdef __cplusplus
extern "C" {
#endif

/* CLOCK_REALTIME, which begins in 1970 on a board without a clock; CLOCK_MONOTONIC, since boot; a
 * CPU-time clock, including one that ClockId() returned. */
int clock_gettime(clockid_t clock, struct timespec *now);
/* The resolution of a clock. result may be NULL. */
int clock_getres(clockid_t clock, struct timespec *result);
/* CLOCK_REALTIME only. EPERM: needs ABILITY_CLOCK. */
int clock_settime(clockid_t clock, const struct timespec *to);
/* Sleeps at least that long, by CLOCK_MONOTONIC. Nothing interrupts it: *left, if not NULL, is 0. A
 * cancellation point. */
int nanosleep(const struct timespec *wanted, struct timespec *left);
/*
 * Sleeps by CLOCK_REALTIME or CLOCK_MONOTONIC; with TIMER_ABSTIME in flags, until that time of the
 * clock. Returns 0 or an error number, and leaves errno alone: EINVAL unknown clock or flag, or an
 * invalid time. A cancellation point.
 */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *left);

/*
 * Creates a timer of the process, disarmed, by CLOCK_REALTIME or CLOCK_MONOTONIC. event:
 * SIGEV_PULSE, SIGEV_SIGNAL (ends the process), SIGEV_NONE; NULL: SIGALRM. EAGAIN: the table of
 * timers is full; EINVAL, EBADF, EPERM: an invalid event.
 */
struct sigevent;
int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer);
int timer_delete(timer_t timer); /* EINVAL: no such timer, likewise below */
/* it_value 0 disarms it. flags: 0, or TIMER_ABSTIME: it_value is a time of its clock. old may be
 * NULL; else it gets the time that was left. */
int timer_settime(timer_t timer, int flags, const struct itimerspec *to, struct itimerspec *old);
int timer_gettime(timer_t timer, struct itimerspec *now);
/* Returns the expiries since timer_settime() that did not get a pulse of their own. */
int timer_getoverrun(timer_t timer);

/*
 * Busy-waits at least that long; for a few microseconds in a driver. 0, or EINVAL: an invalid time.
 * A count is a cycle of ClockCycles().
 */
int nanospin(const struct timespec *wanted);
int nanospin_ns(unsigned long ns);
void nanospin_count(unsigned long count);
unsigned long nanospin_ns_to_count(unsigned long ns);
int nanospin_calibrate(int disable); /* 0: there is nothing to do */

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library's <time.h>, with what it shows to other targets only: clocks and sleeping. 0, or -1
 * and errno: EINVAL an unknown clock, or a time that is negative or has 10^9 ns or more.
 */
#ifndef LIB_TIME_H
#define LIB_TIME_H

#include_next <time.h>

/*
 * The kernel's values (sys/neutrino.h), spelled the same, whatever the C library says: a clock is
 * the same number for clock_gettime(), TimerTimeout() and the reader of a capture.
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

/* CLOCK_REALTIME, which begins in 1970 on a board without a clock; CLOCK_MONOTONIC, since the boot;
 * a clock of CPU time, also one that ClockId() returned. */
int clock_gettime(clockid_t clock, struct timespec *now);
/* The resolution of a clock. result may be NULL. */
int clock_getres(clockid_t clock, struct timespec *result);
/* CLOCK_REALTIME only. EPERM: needs ABILITY_CLOCK. */
int clock_settime(clockid_t clock, const struct timespec *to);
/* Sleeps at least so long, by CLOCK_MONOTONIC. Nothing cuts it short: *left, if not NULL, is 0. A
 * cancellation point. */
int nanosleep(const struct timespec *wanted, struct timespec *left);
/*
 * Sleeps by CLOCK_REALTIME or CLOCK_MONOTONIC, with TIMER_ABSTIME in flags until that time of the
 * clock. Returns 0 or the error's number, and leaves errno alone: EINVAL unknown clock or flag, or
 * no time. A cancellation point.
 */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *left);

/*
 * A timer of the process, disarmed, by CLOCK_REALTIME or CLOCK_MONOTONIC. event: SIGEV_PULSE,
 * SIGEV_SIGNAL (ends the process), SIGEV_NONE; NULL: SIGALRM. EAGAIN: as many as there may be;
 * EINVAL, EBADF, EPERM: the event is none.
 */
struct sigevent;
int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer);
int timer_delete(timer_t timer); /* EINVAL: no such timer, as for those below */
/* it_value 0 disarms it. flags: 0, or TIMER_ABSTIME: it_value is a time of its clock. old may be
 * NULL: what was left. */
int timer_settime(timer_t timer, int flags, const struct itimerspec *to, struct itimerspec *old);
int timer_gettime(timer_t timer, struct itimerspec *now);
/* Expiries since timer_settime() that no pulse of their own told of. */
int timer_getoverrun(timer_t timer);

/*
 * Spins, with the CPU, at least that long; for a few microseconds in a driver. 0, or EINVAL: no
 * time. A count is a cycle of ClockCycles().
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

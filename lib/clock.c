/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POSIX clocks by ClockTime(). A clockid_t is the kernel's number, as lib/include/time.h ensures.
 * Tested by test/board/programs/t_timer.c and, on the headers, test/headers/check.
 */
#include <errno.h>
#include <sys/time.h>
#include <time.h>

#include "lib/clock.h"
#include "lib/include/sys/neutrino_r.h"

#define NSEC UINT64_C(1000000000)

static void clock_timespec_set(struct timespec *to, uint64_t ns)
{
    to->tv_sec = (time_t)(ns / NSEC);
    to->tv_nsec = (long)(ns % NSEC);
}

/* Returns the kernel's number of a clock; those of the caller's own CPU time have special names. */
static int clock_number(clockid_t clock)
{
    int tid = 0;

    if (clock == CLOCK_PROCESS_CPUTIME_ID) {
        return ClockId_r(0, 0);
    }
    if (clock == CLOCK_THREAD_CPUTIME_ID) {
        ProcSelf_r(&tid, NULL);
        return ClockId_r(0, tid);
    }
    return (int)clock;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    uint64_t ns;

    if (ClockTime(clock_number(clock), NULL, &ns) < 0) {
        return -1;
    }
    clock_timespec_set(now, ns);
    return 0;
}

int clock_getres(clockid_t clock, struct timespec *result)
{
    struct _clockperiod period;
    uint64_t now;

    if (ClockTime(clock_number(clock), NULL, &now) < 0 ||
        ClockPeriod(CLOCK_REALTIME, NULL, &period) < 0) {
        return -1;
    }
    if (result) {
        clock_timespec_set(result, period.nsec);
    }
    return 0;
}

int clock_settime(clockid_t clock, const struct timespec *to)
{
    if (clock != CLOCK_REALTIME || !kymo_timespec_ok(to)) {
        errno = EINVAL;
        return -1;
    }
    uint64_t ns = kymo_timespec_ns(to);
    return ClockTime(CLOCK_REALTIME, &ns, NULL) < 0 ? -1 : 0;
}

bool kymo_timespec_ok(const struct timespec *ts)
{
    return ts->tv_sec >= 0 && ts->tv_nsec >= 0 && (uint64_t)ts->tv_nsec < NSEC;
}

/* Saturates: 584 years. */
uint64_t kymo_timespec_ns(const struct timespec *ts)
{
    uint64_t seconds = (uint64_t)ts->tv_sec;

    return seconds >= UINT64_MAX / NSEC ? UINT64_MAX : seconds * NSEC + (uint64_t)ts->tv_nsec;
}

int kymo_gettimeofday(struct timeval *now)
{
    uint64_t ns;

    if (ClockTime(CLOCK_REALTIME, NULL, &ns) < 0) {
        return -1;
    }
    now->tv_sec = (time_t)(ns / NSEC);
    now->tv_usec = (suseconds_t)(ns % NSEC / 1000);
    return 0;
}

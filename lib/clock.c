/* SPDX-License-Identifier: BSD-2-Clause */
/* POSIX clocks over ClockTime(). The C libraries number the clocks in their own way. */
#include <errno.h>
#include <sys/time.h>
#include <time.h>

#include "lib/clock.h"
#include "lib/include/sys/neutrino_r.h"

#define NSEC UINT64_C(1000000000)

/* POSIX's numbers as newlib and picolibc have them; their headers show them to a few targets only.
 */
int kymo_clock_id(int posix)
{
    return posix == KYMO_POSIX_REALTIME    ? CLOCK_REALTIME_KYMO
           : posix == KYMO_POSIX_MONOTONIC ? CLOCK_MONOTONIC_KYMO
                                           : -1;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    uint64_t ns;
    int id = kymo_clock_id((int)clock);

    if (id < 0) {
        errno = EINVAL;
        return -1;
    }
    if (ClockTime(id, NULL, &ns) < 0) {
        return -1;
    }
    now->tv_sec = (time_t)(ns / NSEC);
    now->tv_nsec = (long)(ns % NSEC);
    return 0;
}

int clock_settime(clockid_t clock, const struct timespec *to)
{
    int id = kymo_clock_id((int)clock);

    if (id != CLOCK_REALTIME_KYMO || !kymo_timespec_ok(to)) {
        errno = EINVAL;
        return -1;
    }
    uint64_t ns = kymo_timespec_ns(to);
    return ClockTime(id, &ns, NULL) < 0 ? -1 : 0;
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

    if (ClockTime(CLOCK_REALTIME_KYMO, NULL, &ns) < 0) {
        return -1;
    }
    now->tv_sec = (time_t)(ns / NSEC);
    now->tv_usec = (suseconds_t)(ns % NSEC / 1000);
    return 0;
}

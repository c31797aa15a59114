/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sleeping: as in QNX, a TimerTimeout() whose only state is NANOSLEEP blocks the caller itself.
 * Nothing interrupts a sleep (there are no signal handlers), so the time left is always 0.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/include/sys/neutrino_r.h"

static int sleep_ns(uint64_t ns)
{
    int error = TimerTimeout_r(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);

    if (error < 0 && error != -ETIMEDOUT) {
        errno = -error;
        return -1;
    }
    return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (!kymo_timespec_ok(wanted)) {
        errno = EINVAL;
        return -1;
    }
    uint64_t ns = kymo_timespec_ns(wanted); /* before *left is written: it may be *wanted */
    if (left) {
        left->tv_sec = 0;
        left->tv_nsec = 0;
    }
    return sleep_ns(ns);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *left)
{
    bool absolute = (unsigned)flags == TIMER_ABSTIME;

    if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || (flags != 0 && !absolute) ||
        !kymo_timespec_ok(wanted)) {
        return EINVAL;
    }
    uint64_t ns = kymo_timespec_ns(wanted);
    if (left && !absolute) {
        left->tv_sec = 0;
        left->tv_nsec = 0;
    }
    int error =
        TimerTimeout_r((int)clock, _NTO_TIMEOUT_NANOSLEEP | (unsigned)flags, NULL, &ns, NULL);
    return error < 0 && error != -ETIMEDOUT ? -error : 0;
}

int usleep(useconds_t us)
{
    return sleep_ns((uint64_t)us * 1000);
}

unsigned sleep(unsigned seconds)
{
    return sleep_ns((uint64_t)seconds * UINT64_C(1000000000)) == 0 ? 0 : seconds;
}

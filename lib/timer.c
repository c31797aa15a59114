/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POSIX timers by Timer*(). A timer_t is the kernel's id. A timer's action on expiry is its struct
 * sigevent: a pulse, or a signal that ends the process. Tested by test/board/programs/t_port.c.
 */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "lib/clock.h"
#include "lib/include/sys/neutrino_r.h"

#define NSEC UINT64_C(1000000000)
#define OVERRUN_MOST 0x7fffffff

static int timer_fail_invalid(void)
{
    errno = EINVAL;
    return -1;
}

static void timer_set_timespec(struct timespec *to, uint64_t ns)
{
    to->tv_sec = (time_t)(ns / NSEC);
    to->tv_nsec = (long)(ns % NSEC);
}

static void itimerspec_set(struct itimerspec *to, const struct _itimer *from)
{
    timer_set_timespec(&to->it_value, from->nsec);
    timer_set_timespec(&to->it_interval, from->interval_nsec);
}

int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    int id = TimerCreate((int)clock, event);

    if (id < 0) {
        return -1;
    }
    *timer = (timer_t)id;
    return 0;
}

int timer_delete(timer_t timer)
{
    return TimerDestroy((int)timer);
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *to, struct itimerspec *old)
{
    struct _itimer before;

    if (!kymo_timespec_ok(&to->it_value) || !kymo_timespec_ok(&to->it_interval)) {
        return timer_fail_invalid();
    }
    const struct _itimer set = {kymo_timespec_ns(&to->it_value),
                                kymo_timespec_ns(&to->it_interval)};
    if (TimerSettime((int)timer, flags, &set, &before) < 0) {
        return -1;
    }
    if (old) {
        itimerspec_set(old, &before);
    }
    return 0;
}

int timer_gettime(timer_t timer, struct itimerspec *now)
{
    struct _timer_info info;

    if (TimerInfo(0, (int)timer, 0, &info) < 0) {
        return -1;
    }
    itimerspec_set(now, &info.itime);
    return 0;
}

int timer_getoverrun(timer_t timer)
{
    struct _timer_info info;

    if (TimerInfo(0, (int)timer, 0, &info) < 0) {
        return -1;
    }
    return info.overruns > OVERRUN_MOST ? OVERRUN_MOST : (int)info.overruns;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timers of `self` behind the provider `profile`. arg0 is an address in this process, arg1 is
 * 0: `self` is traced from inside. Control context.
 */
#include "host/self/self.h"
#include "trace/d/provider/profile.h"

#include <errno.h>
#include <stdlib.h>

unsigned self_tick_cpu;

static void fire(void *arg)
{
    const struct d_profile *p = arg;

    d_fire(p->probe, (uintptr_t)fire, 0, 0, 0, 0);
}

static void stop(struct d_profile *p)
{
    struct self_timer **timers = p->timers;

    for (unsigned cpu = 0; cpu < SELF_CPUS_MAX; cpu++) {
        if (timers[cpu]) {
            self_timer_stop(timers[cpu]);
        }
    }
    free(timers);
    p->timers = NULL;
}

static int start(struct d_profile *p)
{
    unsigned first = p->tick ? self_tick_cpu : 0;
    unsigned last = p->tick ? self_tick_cpu : d_port_cpu_count() - 1;
    struct self_timer **timers = calloc(SELF_CPUS_MAX, sizeof(*timers));

    p->timers = timers;
    for (unsigned cpu = first; timers && cpu <= last; cpu++) {
        timers[cpu] = self_timer_start(cpu, p->interval, fire, p);
        if (!timers[cpu]) {
            stop(p);
            return -ENOMEM;
        }
    }
    return timers ? 0 : -ENOMEM;
}

void self_profile_init(void)
{
    static const struct d_profile_target target = {start, stop};

    d_profile_register(&target);
}

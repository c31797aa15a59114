/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timers of `self` behind the provider `profile`. arg0 is an address in this process, arg1 is
 * 0: `self` is traced from inside. Control context.
 */
#include "host/self/self.h"
#include "trace/dtrace/provider/profile.h"

#include <errno.h>
#include <stdlib.h>

static void self_profile_fire_probe(void *arg)
{
    const uint64_t args[5] = {(uintptr_t)self_profile_fire_probe};
    uintptr_t irq = dtrace_port_irq_save();

    dtrace_profile_fire(arg, args);
    dtrace_port_irq_restore(irq);
}

static void self_profile_stop_timers(struct dtrace_profile *p)
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

static int self_profile_start_timers(struct dtrace_profile *p)
{
    p->timers = calloc(SELF_CPUS_MAX, sizeof(struct self_timer *));
    return p->timers ? 0 : -ENOMEM;
}

static int self_profile_run_on_cpu(struct dtrace_profile *p, unsigned cpu, bool on)
{
    struct self_timer **timer = (struct self_timer **)p->timers + cpu;

    if (!on) {
        self_timer_stop(*timer);
        *timer = NULL;
        return 0;
    }
    *timer = self_timer_start(cpu, p->interval, self_profile_fire_probe, p);
    return *timer ? 0 : -ENOMEM;
}

void self_profile_init(void)
{
    static const struct dtrace_profile_target target = {
        self_profile_start_timers, self_profile_run_on_cpu, self_profile_stop_timers};

    dtrace_profile_register(&target);
}

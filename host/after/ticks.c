/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timers of a capture behind tick-N: they are due on its time, from its beginning. `profile-N`
 * says where each CPU was, which no event does: it is refused (check.c). See after.h.
 */
#include "host/after/after.h"

#include "abi/errno.h"
#include "trace/dtrace/provider/profile.h"
#include "trace/port.h"

static struct tick {
    const struct dtrace_profile *profile; /* NULL: free */
    uint64_t due;
    unsigned cpu;
} ticks[DTRACE_PROFILE_MOST];

static uint64_t next_due = UINT64_MAX; /* the earliest of them */

static struct tick *after_ticks_earliest_due(void)
{
    struct tick *first = NULL;

    for (unsigned i = 0; i < DTRACE_PROFILE_MOST; i++) {
        if (ticks[i].profile && (!first || ticks[i].due < first->due)) {
            first = &ticks[i];
        }
    }
    next_due = first ? first->due : UINT64_MAX;
    return first;
}

static int tick_start(struct dtrace_profile *p)
{
    (void)p;
    return 0;
}

static int tick_run(struct dtrace_profile *p, unsigned cpu, bool switched_on)
{
    for (unsigned i = 0; i < DTRACE_PROFILE_MOST; i++) {
        if (switched_on && !ticks[i].profile) {
            ticks[i] = (struct tick){p, after_now.ns + p->interval, cpu};
            after_ticks_earliest_due();
            return 0;
        }
        if (!switched_on && ticks[i].profile == p && ticks[i].cpu == cpu) {
            ticks[i].profile = NULL;
            after_ticks_earliest_due();
            return 0;
        }
    }
    return switched_on ? -ENOMEM : 0;
}

static void tick_stop(struct dtrace_profile *p)
{
    for (unsigned i = 0; i < DTRACE_PROFILE_MOST; i++) {
        ticks[i].profile = ticks[i].profile == p ? NULL : ticks[i].profile;
    }
    after_ticks_earliest_due();
}

void after_ticks_until(uint64_t ns)
{
    static const uint64_t none[5];

    while (next_due <= ns) {
        struct tick *t = after_ticks_earliest_due();
        after_now.ns = t->due;
        after_now.cpu = t->cpu;
        after_now.thread = after_current(t->cpu);
        trace_host_cpu = t->cpu;
        t->due += t->profile->interval;
        dtrace_profile_fire(t->profile, none);
        after_ticks_earliest_due();
    }
}

void after_ticks_init(void)
{
    static const struct dtrace_profile_target target = {tick_start, tick_run, tick_stop};

    dtrace_profile_register(&target);
}

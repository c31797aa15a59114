/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `profile`, as far as it is the same on every target: profile-N[unit] fires on every
 * CPU that a consumer traces, tick-N[unit] on the first of them, no faster than
 * DTRACE_PROFILE_INTERVAL_MIN. A rate that nobody has used yet is made when a description names it
 * exactly; it stays, so there are DTRACE_PROFILE_MOST at the most. The target supplies the timers.
 * Control context, under the control lock.
 */
#ifndef TRACE_DTRACE_PROVIDER_PROFILE_H
#define TRACE_DTRACE_PROVIDER_PROFILE_H

#include "trace/dtrace/dtrace.h"

enum {
    DTRACE_PROFILE_INTERVAL_MIN = 200000,
    DTRACE_PROFILE_NAME_MOST = 32,
    DTRACE_PROFILE_MOST = 256
};

struct dtrace_profile {
    struct dtrace_profile *next; /* [k] all of them */
    uint64_t interval;           /* [I] ns */
    uint32_t probe;              /* [I] */
    bool tick;                   /* [I] on one CPU for each consumer: the first that it traces */
    void *timers;                /* [k] the target's, from start() to stop() */
    uint64_t cpus;               /* [k] where the target fires it: a mask */
    char name[DTRACE_PROFILE_NAME_MOST]; /* [I] */
};

/*
 * From start() to stop() the target fires the probe at its interval, by dtrace_profile_fire(), on
 * the CPUs for which run() has said so: at first on none.
 */
struct dtrace_profile_target {
    int (*start)(struct dtrace_profile *);                      /* 0 or a negative errno */
    int (*run)(struct dtrace_profile *, unsigned cpu, bool on); /* the same; off never fails */
    void (*stop)(struct dtrace_profile *);
};

/* Fires on this CPU, with nothing else firing on it: as dtrace_probe_fire(). */
void dtrace_profile_fire(const struct dtrace_profile *, const uint64_t args[5]);

void dtrace_profile_register(const struct dtrace_profile_target *);

#endif

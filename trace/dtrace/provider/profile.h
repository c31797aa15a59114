/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Target-independent part of the provider `profile`: profile-N[unit] fires on every CPU that a
 * consumer traces, tick-N[unit] on the first of them, no faster than DTRACE_PROFILE_INTERVAL_MIN. A
 * probe for an unused rate is created when a description names it exactly; it is never deleted, so
 * there are at most DTRACE_PROFILE_MOST. The target supplies the timers. Control context, under the
 * control lock.
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
    struct dtrace_profile *next; /* [k] in the list of all */
    uint64_t interval;           /* [I] ns */
    uint32_t probe;              /* [I] */
    /* [I] fires on one CPU for each consumer, the first that it traces */
    bool tick;
    void *timers;                        /* [k] the target's, from start() to stop() */
    uint64_t cpus;                       /* [k] mask of CPUs on which the target fires it */
    char name[DTRACE_PROFILE_NAME_MOST]; /* [I] */
};

/*
 * From start() to stop() the target fires the probe at its interval, by dtrace_profile_fire(), on
 * the CPUs that run() has switched on; initially none.
 */
struct dtrace_profile_target {
    int (*start)(struct dtrace_profile *);                      /* 0 or a negative errno */
    int (*run)(struct dtrace_profile *, unsigned cpu, bool on); /* likewise; off never fails */
    void (*stop)(struct dtrace_profile *);
};

/* Fires on this CPU, with no other probe firing on it, like dtrace_probe_fire(). */
void dtrace_profile_fire(const struct dtrace_profile *, const uint64_t args[5]);

void dtrace_profile_register(const struct dtrace_profile_target *);

#endif

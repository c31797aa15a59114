/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `profile`, as far as it is the same on every target: profile-N[unit] fires on every
 * CPU, tick-N[unit] on one, no faster than D_PROFILE_INTERVAL_MIN. A rate that nobody has used yet
 * is made when a description names it exactly; it stays, so there are D_PROFILE_MOST at the most.
 * The target supplies the timers. Control context, under the control lock.
 */
#ifndef TRACE_D_PROVIDER_PROFILE_H
#define TRACE_D_PROVIDER_PROFILE_H

#include "trace/d/d.h"

enum { D_PROFILE_INTERVAL_MIN = 200000, D_PROFILE_NAME_MOST = 32, D_PROFILE_MOST = 256 };

struct d_profile {
    struct d_profile *next;         /* [k] all of them */
    uint64_t interval;              /* [I] ns */
    uint32_t probe;                 /* [I] */
    bool tick;                      /* [I] one CPU only */
    void *timers;                   /* [k] the target's, from start() to stop() */
    char name[D_PROFILE_NAME_MOST]; /* [I] */
};

/* From start() to stop() the target fires the probe at its interval. */
struct d_profile_target {
    int (*start)(struct d_profile *); /* 0 or a negative errno */
    void (*stop)(struct d_profile *);
};

void d_profile_register(const struct d_profile_target *);

#endif

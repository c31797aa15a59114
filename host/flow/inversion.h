/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one judge of priority inversions, of `kymo assert --inversion` and of `kymo diagnose`: from
 * the flow's threads and states, in the order in which its functions give them. A wait that lasts
 * longer than the limit is one, whatever happens later. One thread.
 * Proof: test/host/assert/check, test/host/diagnose/check.
 */
#ifndef HOST_FLOW_INVERSION_H
#define HOST_FLOW_INVERSION_H

#include "host/flow/flow.h"

struct inversion {
    const struct flow_thread *thread, *by; /* waited; of lower priority, and was waited for */
    int own, priority;                     /* theirs */
    int state;                             /* in which `thread` waited */
    uint64_t object;                       /* for which; 0: not known */
    int64_t from, to;
    bool ended; /* `by` has ended the wait; else it lasts, or the thread was killed */
    /* The thread that ran, so long, before `by`, which was READY, got its CPU; NULL: none did. */
    const struct flow_thread *middle;
    int middle_priority;
    int64_t middle_ns;
};

struct inversion_doubts {
    uint64_t unknown;   /* long waits of which it is not known who ended them */
    bool no_priorities; /* the capture has no priorities */
};

struct inversion_ops {
    void (*found)(void *arg, const struct inversion *found);
    void (*checked)(void *arg); /* a wait was judged; NULL */
};

struct inversions;

/* most: the limit in ns. */
struct inversions *inversion_new(const struct inversion_ops *ops, void *arg, int64_t most);
void inversion_free(struct inversions *inversions);
/* As flow_ops has them. */
void inversion_thread(struct inversions *inversions, struct flow_thread *thread);
void inversion_gone(struct inversions *inversions, const struct flow_thread *thread, int64_t ns);
void inversion_begin(struct inversions *inversions, const struct flow_thread *thread,
                     const struct flow_state *state);
void inversion_span(struct inversions *inversions, const struct flow_thread *thread,
                    const struct flow_state *state, int64_t to, bool ended);
/* After flow_lose(): nobody knows a thread's priority until its next state. */
void inversion_lose(struct inversions *inversions);
const struct inversion_doubts *inversion_doubts(const struct inversions *inversions);
/* A wait of this state may be for another thread. */
bool inversion_counts(int state);
/* "for a mutex" */
const char *inversion_for(int state);

#endif

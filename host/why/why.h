/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo why: shared declarations. An interval of a thread is taken apart into a path: its stretches
 * by time, without holes, and after each wait, one deeper, those of the thread that it waited for.
 * docs/guide/why.md explains it. One thread. Proof: test/host/why/why_test.c, test/host/why/check.
 */
#ifndef HOST_WHY_WHY_H
#define HOST_WHY_WHY_H

#include "host/timeline/timeline.h"

#define WHY_DEPTH 32     /* threads that wait for each other */
#define WHY_RAN 8        /* threads that ran meanwhile, by time */
#define WHY_CHAIN 16     /* wake-ups back to what began it all */
#define WHY_PARTS 100000 /* stretches of a path */

/* The threads that ran on the CPUs while a thread was READY. */
struct why_ran {
    uint32_t thread; /* TIMELINE_NONE: it is not known who */
    int16_t priority;
    bool idle;  /* it is a CPU's idle thread */
    int64_t ns; /* over all CPUs */
};

struct why_part {
    int64_t from, to;
    uint32_t thread;
    uint32_t span; /* index in timeline->spans; TIMELINE_NONE: the thread did not live */
    uint16_t depth;
    bool cut;    /* what it waited for is not followed any deeper */
    bool circle; /* that is cut, as it is a thread that waits, further up, for this one */
};

/* While `victim` waited for `holder`, `middle` ran in its place: of lower priority than victim. */
struct why_inversion {
    uint32_t victim, holder, middle;
    int16_t victim_priority, holder_priority, middle_priority;
    int64_t ns;    /* that middle ran */
    uint8_t state; /* in which the victim waited */
};

/* A wake-up: `by` (see cause) made `thread` READY. */
struct why_link {
    int64_t ns;
    uint32_t thread, by;
    uint8_t cause;
};

struct why {
    const struct timeline *timeline;
    uint32_t thread;
    int64_t from, to;
    struct why_part *parts;
    uint32_t nparts, parts_room;
    struct why_inversion inversions[16];
    unsigned ninversions;
    struct why_link chain[WHY_CHAIN]; /* the newest first */
    unsigned nchain;
    bool no_memory;
    bool full; /* WHY_PARTS or WHY_DEPTH ended it */
};

/* path.c. The path of a thread from `from` to `to`. False: no memory. */
bool why_path(struct why *why, const struct timeline *timeline, uint32_t thread, int64_t from,
              int64_t to);
void why_free(struct why *why);
/* The owner of the mutex, or the server's thread that received the message, of a wait;
 * TIMELINE_NONE: not known, or nobody. */
uint32_t why_holder(const struct timeline *timeline, const struct timeline_span *span);
/* The thread that ended a wait; TIMELINE_NONE: it was an interrupt, or is not known. */
uint32_t why_waker(const struct timeline *timeline, const struct timeline_span *span);
/* The thread whose doing a wait depends on: its holder; of waits that have none its waker. */
uint32_t why_waited_for(const struct timeline *timeline, const struct timeline_span *span);
/* The span of the same thread after this one; NULL: there is none. */
const struct timeline_span *why_next(const struct timeline *timeline,
                                     const struct timeline_span *span);
/* ran.c. Fills `ran`, the longest first, idle CPUs last; returns how many. */
unsigned why_ran(const struct timeline *timeline, uint32_t thread, int64_t from, int64_t to,
                 struct why_ran ran[WHY_RAN]);

/* text.c, json.c */
void why_text(const struct why *why, bool all);
void why_json(const struct why *why);

#endif

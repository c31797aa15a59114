/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts that host/export/follow.c and follow_state.c share.
 */
#ifndef HOST_EXPORT_FOLLOW_OWN_H
#define HOST_EXPORT_FOLLOW_OWN_H

#include "host/export/follow.h"

#define FOLLOW_BUCKETS 4096 /* a power of two */

struct follow_turn { /* a CPU is covered from here on, or no longer */
    int64_t ns;
    uint8_t cpu;
    bool covered;
};

struct follow_cpu {
    bool covered;
    struct follow_thread *current; /* NULL: not known */
    struct follow_thread *handed;  /* client: the server's next thread that is READY has it */
    struct follow_stack interrupts;
};

struct follow {
    struct export *export;
    const struct follow_ops *ops;
    struct follow_thread *threads[FOLLOW_BUCKETS], *messages[FOLLOW_BUCKETS];
    struct follow_thread *corpse; /* freed with the next event */
    struct follow_turn *turns;
    unsigned nturns, turn;
    unsigned uncovered;  /* CPUs that are not covered now */
    bool states, slices; /* they can be known at all */
    bool failed, begun;
    unsigned ready, unknown; /* threads */
    uint32_t serial;
    uint64_t message;
    int64_t now;
    struct follow_cpu cpus[FOLLOW_CPUS];
};

/* follow.c */
void follow_slices_close(struct follow *follow, struct follow_stack *stack,
                         const struct follow_thread *thread, int cpu, uint32_t depth, int64_t ns);
void follow_message_step(struct follow_step *step, enum follow_message what,
                         const struct follow_thread *client, struct follow_thread *party);
void follow_message_forget(struct follow *follow, struct follow_thread *client, int64_t ns,
                           bool replied);

/* follow_state.c. A thread; NULL: it is not known whose the event is, or there is no memory. */
struct follow_thread *follow_thread_of(struct follow *follow, int32_t pid, int32_t tid);
/* An event of class PR_TH. */
void follow_thread_event(struct follow *follow, const struct kev_item *item,
                         struct follow_step *step, const uint32_t *words, unsigned nwords);
/* Frees the threads that ended with the last event. */
void follow_corpses_bury(struct follow *follow);
/* Coverage changes until `ns`; afterwards it doesn't: a program has changed the filters. */
void follow_cover_until(struct follow *follow, int64_t ns);
void follow_cover_stop(struct follow *follow, int64_t ns);

#endif

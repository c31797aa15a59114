/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline while it is being made; private to host/timeline/.
 */
#ifndef HOST_TIMELINE_MAKE_H
#define HOST_TIMELINE_MAKE_H

#include "host/timeline/timeline.h"

#define MAKE_NESTED 16 /* interrupts of a CPU that interrupt each other */

struct make_nest { /* what is open, the innermost last: indexes of interrupts or handlers */
    uint32_t depth, open[MAKE_NESTED];
};

/* The facts on a thread's next state, for when it leaves its CPU. */
struct make_state {
    uint64_t object;
    uint32_t by, other;
    int16_t priority;
    int16_t on;
    uint8_t state; /* TIMELINE_UNKNOWN: none */
    uint8_t cause;
    bool dumped; /* a state dump says so: it began before */
};

struct make_thread {
    struct make_state next; /* current, or held: the state after it */
    int64_t ended;          /* of the last span */
    uint32_t open;          /* its span that has not ended; TIMELINE_NONE */
    uint32_t epoch;         /* of `open` and `next`, and of `message` */
    uint32_t message;       /* that it has sent and that has not ended; TIMELINE_NONE */
    uint32_t message_epoch;
    uint32_t call, call_epoch;         /* the kernel call that it is in */
    uint32_t call_owner;               /* tid that owns the mutex of that call; 0: not known */
    uint32_t function, function_epoch; /* the innermost function that it is in */
    int16_t cpu;                       /* current there, -1 */
    int16_t held;                      /* its state begins with that CPU's next THRUNNING; -1 */
    uint32_t held_next, held_last;     /* in that CPU's list */
};

struct make_cpu {
    bool covered;
    bool after_interrupt; /* events are still caused by `interrupt` */
    uint32_t interrupt;
    uint32_t current; /* thread, TIMELINE_NONE: not known */
    uint32_t told;    /* current once it is covered, as an injected event says */
    uint32_t held;    /* list of threads: make_thread.held */
    uint32_t handed;  /* a message was handed over: the next thread of its server that is READY */
    struct make_nest interrupts, handlers;
};

struct make_turn { /* a CPU is covered from here on, or no longer */
    int64_t ns;
    uint8_t cpu;
    bool covered;
};

struct make {
    struct timeline *timeline;
    struct make_thread *threads;
    uint32_t *thread_of_life;
    const struct kev_life *lives;
    uint32_t nlives;
    struct make_turn *turns;
    uint32_t nturns, turn;
    unsigned uncovered; /* CPUs that are not covered now */
    uint32_t epoch;     /* changes each time that all CPUs begin to be covered, or end */
    int64_t *epoch_end;
    uint32_t epochs_room;
    uint32_t spans_room, messages_room, pulses_room, interrupts_room, handlers_room, calls_room,
        functions_room, users_room, covered_room, turns_room;
    timeline_item *item;
    void *item_arg;
    struct make_cpu cpus[TIMELINE_CPUS];
    uint32_t *chain, chain_room; /* of messages that were not received, by bucket */
    uint32_t *buckets;
    bool begun; /* an event has come */
    struct timeline_filters filters;
    bool failed; /* no memory, or too many entries: fault says */
};

/* Adds a zeroed entry to an array; NULL: it failed. */
void *make_more(struct make *make, void *array, uint32_t *count, uint32_t *room, size_t bytes);
bool make_known(const struct make *make, uint32_t epoch); /* all are covered, and were since */
uint32_t make_thread_of(struct make *make, int32_t pid, int32_t tid, int64_t ns);

/* store.c. An array of `had` bytes becomes longer, as by realloc(); NULL and errno: it can't. */
void *store_grow(struct timeline *timeline, void *array, size_t had, size_t bytes);
void store_free(struct timeline *timeline, void *array);

/* cover.c. False: no memory. */
bool cover_find(struct make *make);
void cover_until(struct make *make, int64_t ns);
/* Nothing is known from here on: a program has changed the filters. */
void cover_stop(struct make *make, int64_t ns);

/* states.c */
void states_event(struct make *make, const struct kev_item *item);
void states_told(struct make *make, const struct kev_item *item);
void states_lose_cpu(struct make *make, unsigned cpu, int64_t ns);
void states_gain_cpu(struct make *make, unsigned cpu, int64_t ns);
void states_end(struct make *make);

/* calls.c */
void calls_event(struct make *make, const struct kev_item *item, const uint32_t *words,
                 unsigned nwords);
void functions_event(struct make *make, const struct kev_item *item);
void calls_end(struct make *make);

/* others.c: messages, interrupts, user events */
void others_event(struct make *make, const struct kev_item *item);
/* The cause of what the thread does on this CPU now. */
void others_cause(const struct make *make, unsigned cpu, uint32_t thread, struct make_state *state);
/* A thread is READY, or gone: a message that is open has ended. */
void others_over(struct make *make, uint32_t thread, unsigned cpu, int64_t ns, bool ready);
void others_in_thread(struct make *make, unsigned cpu, int64_t ns);
void others_lose_cpu(struct make *make, unsigned cpu, int64_t ns);
void others_end(struct make *make);

#endif

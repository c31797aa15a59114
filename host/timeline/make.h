/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline while it is being made; private to host/timeline/.
 */
#ifndef HOST_TIMELINE_MAKE_H
#define HOST_TIMELINE_MAKE_H

#include "host/timeline/timeline.h"

struct make {
    struct timeline *timeline;
    struct flow *flow;
    uint32_t *thread_of_life;
    const struct kev_life *lives;
    uint32_t nlives;
    uint32_t *thread_of_serial; /* the flow's; entry 0 is of no thread */
    uint32_t nserials;
    int64_t *ended;                   /* of each thread: of its last span */
    uint32_t depth[TIMELINE_CPUS][2]; /* interrupts, handlers that are open there */
    uint32_t serials_room, spans_room, messages_room, pulses_room, interrupts_room, handlers_room,
        calls_room, functions_room, users_room, covered_room;
    timeline_item *item;
    void *item_arg;
    bool begun;  /* an event has come */
    bool failed; /* no memory, or too many entries: fault says */
};

/* Adds a zeroed entry to an array; NULL: it failed. */
void *make_more(struct make *make, void *array, uint32_t *count, uint32_t *room, size_t bytes);

/* store.c. An array of `had` bytes becomes longer, as by realloc(); NULL and errno: it can't. */
void *store_grow(struct timeline *timeline, void *array, size_t had, size_t bytes);
void store_free(struct timeline *timeline, void *array);

/* spans.c */
extern const struct flow_ops spans_ops; /* `arg` is struct make */
/* The timeline's thread; TIMELINE_NONE: not known. */
uint32_t spans_thread(const struct flow_thread *thread);
/* Finds it, if it had not been found before. */
void spans_meet(struct make *make, struct flow_thread *thread, int64_t ns);
/* The capture's end: each thread's time is filled up. */
void spans_end(struct make *make);

/* others.c: slices, messages, pulses and user events of a step. */
void others_event(struct make *make, const struct kev_item *item, const struct flow_step *step);
/* These two are of spans_ops, too. */
void others_close(void *arg, const struct flow_thread *thread, int cpu,
                  const struct flow_open *open, int64_t ns, enum flow_ending ending);
void others_abandon(void *arg, const struct flow_thread *thread, int64_t ns,
                    enum flow_ending ending);

#endif

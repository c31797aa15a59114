/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lane: one CPU's buffers in order, or the whole stream of another kernel; and the combine events
 * that are open on it. One reader, one thread.
 */
#ifndef HOST_READER_LANE_H
#define HOST_READER_LANE_H

#include "host/reader/index.h"

#define KEV_WINDOW_SLOTS 1024 /* slots read at a time of a capture without buffer counts */
#define KEV_OPEN_MAX 32       /* combine events open at once on one lane */

/* ---- joining combine events -------------------------------------------------------- */

struct kev_open {
    uint32_t header; /* without the structure bits; key with time */
    uint32_t time;
    uint64_t full_time, offset;
    uint64_t age;
    uint32_t nwords;
    bool used;
    uint32_t *words; /* KEV_WORDS_MAX */
};

struct kev_join {
    struct kev_open open[KEV_OPEN_MAX];
    unsigned nopen;
    uint64_t ages;
};

enum kev_joined { KEV_JOIN_BROKEN = -1, KEV_JOIN_MORE = 0, KEV_JOIN_EVENT = 1 };

enum kev_joined kev_join_slot(struct kev_join *join, const struct trace_slot *slot, uint64_t time,
                              uint64_t offset, struct kev_event *event);
/* Memory for one event's words; NULL: there is none. */
uint32_t *kev_join_words(struct kev_join *join);
unsigned kev_join_drop(struct kev_join *join); /* gives up what is open; returns how many */
void kev_join_free(struct kev_join *join);

/* ---- a lane ------------------------------------------------------------------------ */

struct kev_lane {
    uint32_t first, last; /* entries of the index; KEV_NONE: none */
    uint32_t current;     /* entry loaded */
    uint32_t nslots, at;  /* slots loaded, next one */
    uint64_t offset;      /* of the first of the slots loaded */
    bool clean;           /* all of the slots are sound, and their combine events whole */
    bool ready;           /* head is valid */
    bool skipped;         /* slots before the next event were passed over */
    uint64_t last_time;
    uint64_t event_time;      /* of the last slot that begins an event, but BUFFER and TIME */
    bool event_known;         /* there is one */
    uint64_t stamped;         /* another kernel's: CPUs that have had an event, bit per CPU; */
    uint64_t stamp[KEV_CPUS]; /* the last one's time */
    uint64_t sum;             /* over the slots loaded, if they have a CHECK */
    struct kev_event head;
    struct trace_slot *slots;
    uint64_t *times;
    uint8_t *bad;
    uint32_t room; /* slots that the arrays hold */
    uint32_t msb[KEV_CPUS];
    uint32_t low[KEV_CPUS];
    struct kev_join join;
};

struct kev_lane *kev_lane_get(struct kev *kev, unsigned lane);
enum kev_result kev_lane_advance(struct kev *kev, struct kev_lane *lane, struct kev_error *error);
/* Fills in the next event of a clean lane that has slots left. */
void kev_lane_take(const struct kev *kev, struct kev_lane *lane, struct kev_event *event);
void kev_lane_rewind(struct kev_lane *lane);
void kev_lane_free(struct kev_lane *lane);

/* buffer.c: a sum continued over slots as the writer saw them; loads an entry's slots, computes
 * their times, marks the damaged ones. */
uint64_t kev_slots_sum(const struct kev *kev, uint64_t sum, const void *slots, uint32_t count);
int kev_buffer_load(struct kev *kev, struct kev_lane *lane, const struct kev_entry *entry,
                    struct kev_error *error);

#endif

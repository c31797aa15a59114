/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fabricates captures for the tests of host/: in memory, byte for byte as docs/reference/format.md
 * says, so that the reader is proved against the document and not against the kernel. One thread.
 */
#ifndef TEST_HOST_FABRICATE_MKCAPTURE_H
#define TEST_HOST_FABRICATE_MKCAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/slot.h"

#define MK_CPUS 64

struct mk_cpu {
    uint32_t sequence;
    uint64_t now;                /* 64-bit clock */
    uint32_t high;               /* of the last TIME */
    uint32_t buffers, last_time; /* in the file; of the last slot there */
    uint32_t last_sequence;      /* of the last one there */
    unsigned slots;
    struct trace_slot buffer[TRACE_BUFFER_SLOTS];
};

struct mk {
    uint8_t *bytes;
    size_t len, room;
    bool swapped;
    bool foreign; /* no system page, TIME only where the test puts it */
    bool lossy;   /* the workload loses buffers and events, and accounts for them */
    bool refused; /* if it is lossy: a medium refuses some of the buffers */
    bool checked; /* format 1.02: CHECK, BUFFER_END, mk_end() */
    uint64_t all; /* the sum over the CHECKs so far */
    unsigned ncpu;
    unsigned high_water;
    size_t slots_offset;
    uint64_t random; /* state of the generator */
    struct mk_cpu cpu[MK_CPUS];
};

struct mk_options {
    unsigned ncpu;
    unsigned high_water; /* 0: TRACE_HIGH_WATER */
    bool swapped;
    bool foreign;
    bool lossy, refused;
    bool checked;
    bool ring;      /* tracelogger -r: only the newest is kept */
    uint64_t start; /* first time; near a wrap to test it */
    uint64_t seed;
    const char *events;   /* further lines of the event table, or NULL */
    const char *calls;    /* likewise of the kernel calls' */
    const char *filters;  /* FILTER_1, or NULL */
    const char *date;     /* DATE, or NULL */
    const char *boot;     /* BOOT_DATE, or NULL */
    const char *wall;     /* WALL_CLOCK, or NULL */
    const char *build_id; /* its bytes, or NULL: 1234ab */
    unsigned page;        /* version of the system page; 0: the newest */
};

struct mk *mk_new(const struct mk_options *options); /* header and system page written */
void mk_free(struct mk *mk);
/* An event of CPU `cpu`, `after` cycles later: a simple one if nwords <= 2, else a
 * combine event. */
void mk_event(struct mk *mk, unsigned cpu, uint64_t after, unsigned class, unsigned event,
              const uint32_t *words, unsigned nwords);
void mk_string(struct mk *mk, unsigned cpu, uint64_t after, unsigned class, unsigned event,
               const uint32_t *words, unsigned nwords, const char *text);
void mk_dropped(struct mk *mk, unsigned cpu, unsigned reason, unsigned class, uint32_t events);
void mk_flush(struct mk *mk, unsigned cpu); /* the CPU's buffer into the file */
void mk_flush_all(struct mk *mk);
/* A group of 1 to MK_TAILS DROPPED slots outside of buffers: reason and class, 1 event or more. */
#define MK_TAILS 4
struct mk_loss {
    unsigned reason, class;
    uint32_t events;
};
void mk_tails(struct mk *mk, unsigned cpu, const struct mk_loss *losses, unsigned n);
void mk_tail(struct mk *mk, unsigned cpu, unsigned reason, unsigned class, uint32_t events);
void mk_end(struct mk *mk);                       /* the end mark; only if it is checked */
void mk_lose_buffer(struct mk *mk, unsigned cpu); /* a gap in the sequence */
void mk_slot(struct mk *mk, const struct trace_slot *slot); /* raw, at the file's end */
uint32_t mk_random(struct mk *mk);
/* An array of `count` elements, in place or moved, with room for one more. */
void *mk_grown(void *all, uint32_t count, size_t bytes);
/* A workload of `events` events: threads that send, receive, reply, interrupts, names. */
void mk_workload(struct mk *mk, unsigned events);
/* mkhostile.c: captures that keep a reader busy. The last entry of the list has no name. */
struct mk_hostile {
    const char *name;
    void (*put)(struct mk *mk, uint32_t n);
};
extern const struct mk_hostile mk_hostiles[];
/* A whole capture with n of what the name says; NULL: there is no such name. */
struct mk *mk_hostile_make(const char *name, uint32_t n);
int mk_save(const struct mk *mk, const char *path); /* 0 or -1 */
/* Saves the capture to the folder $KEEP, if there is one, for another program's tests. */
void mk_keep(const struct mk *mk);

#endif

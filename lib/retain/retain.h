/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a window of retained memory (abi/retain.h, docs/guide/flight.md) as the pieces of a
 * capture: for the tracelogger at the next boot, and for kymo extract from an image of the memory.
 * It gets the bytes through a function and trusts none of them: a buffer counts if its seal is
 * right, or, if it had none yet, as far as its slots form a possible sequence. What is given up is
 * counted, and is in the pieces as DROPPED where the number of events is known.
 *
 * No allocation, no output; one thread for each struct. Tested by test/trace/retain_test.c.
 */
#ifndef LIB_RETAIN_RETAIN_H
#define LIB_RETAIN_RETAIN_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/retain.h"
#include "abi/sys/panic.h"
#include "trace/slot.h"

/* The limits of one reader: a small board reads its own windows only, with less memory. */
#ifndef RETAIN_SLOTS_MOST
#define RETAIN_SLOTS_MOST TRACE_BUFFER_SLOTS_MOST /* of a buffer */
#endif
#ifndef RETAIN_BUFFERS_MOST
#define RETAIN_BUFFERS_MOST 1024 /* of one CPU */
#endif
#ifndef RETAIN_CPUS_MOST
#define RETAIN_CPUS_MOST KYMO_RETAIN_CPUS
#endif
#ifndef RETAIN_CHUNK
#define RETAIN_CHUNK 1024
#endif

/* Reads bytes of the window: returns 0, or -1 if they are not available. */
typedef int (*retain_read_t)(void *arg, uint32_t offset, void *to, uint32_t bytes);
struct retain_memory { /* for retain_memory_read() */
    const uint8_t *window;
    uint64_t bytes;
};
int retain_memory_read(void *arg, uint32_t offset, void *to, uint32_t bytes);

/* Slots of one CPU: a whole buffer, which begins with BUFFER and TIME, or DROPPED slots. */
struct retain_piece {
    uint32_t cpu;
    uint32_t count;
    const struct trace_slot *slots; /* valid until the next call */
};

/* Data that could not be saved. */
struct retain_losses {
    uint32_t buffers;  /* given up, as a whole or in part */
    uint32_t unknown;  /* of those, with an unknown number of events */
    uint64_t events;   /* what the others held, and what the recording had lost before */
    uint32_t names;    /* processes and threads without a name: damaged, or there was no room */
    uint32_t notes;    /* consumers of D without a description: damaged, or there was no room */
    uint32_t programs; /* retained ones of D, whose description in the window is damaged */
    uint32_t records;  /* of such programs: damaged, a lower bound; each is a missing number */
    uint32_t keys;     /* of their aggregations, likewise */
};

/* A part of the window that is read word by word. */
struct retain_chunk {
    uint32_t at, bytes;
    uint8_t data[RETAIN_CHUNK];
};

#define RETAIN_EVENT_WORDS ((RETAIN_SLOTS_MOST - 2) * 2)

/* The walk through the retained consumers of D, for one CPU. */
struct retain_d {
    struct kymo_retain_d is; /* the current one */
    struct kymo_retain_d_live live;
    uint32_t index, stage; /* its directory index; the stage of its output */
    uint32_t at, until;    /* records, entries: the rest of this region */
    uint32_t next_until;   /* records: of the region from 0 on, which follows this one; 0: none */
    uint32_t tail;         /* records from here on in this region may lack their mark */
    uint32_t next_tail;    /* in the next one */
    uint32_t half;         /* entries: location of the half in use */
    uint32_t number;       /* records or entries so far, those that are lost included */
    uint32_t note_done;
    bool damaged;                  /* the data at `at` was damaged, and is counted */
    uint64_t time;                 /* of the last record */
    uint32_t event, nwords, bytes; /* a pending event: words[0 … nwords), then bytes */
    uint32_t words[RETAIN_EVENT_WORDS];
    struct retain_chunk data, marks, tables;
};

/* The buffers of a CPU that its process, the tracelogger, had already taken: they are in its
 * capture, too, or counted there, unless the process died while it held them. */
struct retain_taken {
    uint32_t last; /* sequence of the last one returned: all before it were taken, too */
    uint32_t here; /* of all those, the number returned */
};

/* The walk through one CPU's buffers, and what follows them. */
struct retain_walk {
    uint32_t stage;
    uint32_t last;       /* sequence of its last buffer */
    uint32_t given;      /* of its buffers */
    uint32_t lost_slots; /* DROPPED slots given */
    bool state_known;
    uint64_t time; /* stamp of its last slot; 0: it had no buffer */
    struct kymo_retain_cpu state;
    uint32_t sequences[RETAIN_BUFFERS_MOST]; /* possible sequence of each buffer; 0: none */
};

struct retain {
    struct kymo_retain_header header;
    struct kymo_panic panic; /* its texts end with a NUL */
    bool panicked;           /* panic is there */
    bool panic_damaged;      /* one is there, but cut off by a reset, or damaged */
    bool frozen_damaged; /* the cursors and losses that the next boot saved: they are not known */
    bool page_good;      /* the system page is intact */
    uint32_t buffers;    /* returned so far */
    struct retain_taken taken[RETAIN_CPUS_MOST]; /* valid once retain_next() has returned false */
    uint32_t programs, records, keys;            /* D's own, likewise */
    struct retain_losses losses;
    /* ---- the walk's own ------------------------------------------------------------ */
    retain_read_t read;
    void *arg;
    bool frozen;
    bool looked;  /* at the first buffers: the following fields are valid */
    uint32_t cpu; /* the current CPU */
    struct retain_walk walk[RETAIN_CPUS_MOST];
    uint64_t first_time;     /* the first stamp of all CPUs */
    uint32_t first_cpu;      /* the first CPU that has buffers */
    uint32_t names_sequence; /* of the next buffer with names */
    uint32_t names_left;     /* buffers that may have names, this one included */
    uint32_t names_cpu;      /* CPU of those buffers; no CPU's number: names aren't needed */
    uint32_t name_at;        /* the next entry */
    uint64_t names_time;     /* the next stamp */
    /* notes of D's consumers: offset in their area; bytes returned of these */
    uint32_t note_at, note_done;
    bool notes_given;
    struct kymo_retain_note note;
    struct retain_d d;
    uint64_t wasted;       /* bytes of D's buffers in failed sums */
    uint32_t readable;     /* bytes of the window: an image may end before the header's claim */
    uint32_t buffer_slots; /* of that kernel's buffers; no piece has more */
    /* also room for anything else */
    alignas(8) struct trace_slot slots[RETAIN_SLOTS_MOST];
};

/* Returns 0, or -1: there is nothing (a cold boot, another layout, a damaged header, more CPUs or
 * buffers than are read here). */
int retain_open(struct retain *retain, retain_read_t read, void *arg);
/* Restarts the walk. */
void retain_rewind(struct retain *retain);
/*
 * Returns the CPUs' buffers merged by the times at which they begin; within a CPU by sequence. If a
 * CPU's first buffers are overwritten, the names of processes and threads come before all of them,
 * in as many buffers as are needed and as the sequence numbers of the overwritten ones allow.
 * Each CPU's last buffer is followed, merged likewise, by the notes of D's consumers (at the first
 * CPU that has buffers), D's own buffers of that CPU, the crash as an event, and its losses.
 * Returns false at the end.
 */
bool retain_next(struct retain *retain, struct retain_piece *piece);
/* `taken` as text, for a capture's attributes: entry n, from 0; false: there is none. */
#define RETAIN_TAKEN_KEY 24
#define RETAIN_TAKEN_VALUE 72
bool retain_taken_text(const struct retain *retain, unsigned n, char key[RETAIN_TAKEN_KEY],
                       char value[RETAIN_TAKEN_VALUE]);

/* ---- for the files of lib/retain ---------------------------------------------------- */

#define RETAIN_CONTROL(cpu, event) TRACE_HEADER(cpu, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, event)

/* Reads bytes of an area. Returns false if they are not in it, or not available. */
bool retain_area_read(struct retain *retain, const struct kymo_retain_area *area, uint32_t at,
                      void *to, uint32_t bytes);

/* Returns the walk of the current CPU. */
static inline struct retain_walk *retain_here(struct retain *retain)
{
    return &retain->walk[retain->cpu];
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo cut: what its files share. A cut is a capture of a selection of another one's events
 * (docs/format.md §11): the same system page and times, buffers of its own. Proof:
 * test/host/cuts.py.
 */
#ifndef HOST_CUT_CUT_H
#define HOST_CUT_CUT_H

#include "host/output.h"
#include "host/select.h"
#include "trace/slot.h"

/* ---- write.c: the file ---- */

struct cut_buffer {
    uint32_t sequence; /* of the last buffer begun */
    unsigned slots;    /* in it so far; 0: none is open */
    bool headed;       /* nothing but BUFFER, TIME and DROPPED is in it */
    uint32_t high;     /* word of its last TIME */
    uint64_t time;     /* of the last slot written */
    struct trace_slot slot[TRACE_BUFFER_SLOTS];
};

struct cut_file {
    struct output *output;
    bool swapped;                     /* the file's byte order is not this machine's */
    int error;                        /* the first refusal of output_write() */
    uint64_t events;                  /* that were selected */
    uint64_t buffers;                 /* written */
    struct cut_buffer *cpu[KEV_CPUS]; /* NULL: nothing of that CPU is in it */
};

/* How the capture was cut, for its attributes. */
struct cut_origin {
    const char *file;                 /* what it was cut out of */
    const struct kymo_select *select; /* bound */
    char *const *options;             /* as they were given, up to NULL */
};

/* Attributes and system page. 0, or -1: no memory, said. */
int cut_head(struct cut_file *file, const struct kev *kev, const struct cut_origin *origin);
/* An event at a time that is not before the CPU's last one. Its payload is in the file's byte order
 * if it is marked so. 0, or -1: no memory, said. */
int cut_event(struct cut_file *file, const struct kev_event *event);
/* DROPPED: begins a buffer, if the open one holds events already: it stands at a head. */
int cut_dropped(struct cut_file *file, const struct kev_event *event);
/* So many buffers are missing here: a gap in the sequence, behind what has been written. */
int cut_gap(struct cut_file *file, unsigned cpu, uint32_t buffers);
/* Begins a buffer of a CPU at a time, whatever is in the one before. */
int cut_begin(struct cut_file *file, unsigned cpu, uint64_t time);
/* Behind all buffers, which it writes: what a CPU lost that may have been before the end. */
void cut_flush(struct cut_file *file);
void cut_tail(struct cut_file *file, const struct kev_event *event);
void cut_free(struct cut_file *file);

/* ---- prelude.c: what was before the window and is needed to read it ---- */

/* Injects names that hold now, and who runs on each CPU that is not left out, right before `time`.
 * Returns how many names found no room before it, or -1: no memory, said. */
int cut_prelude(struct cut_file *file, const struct kymo_select *select, const struct kev *kev,
                const struct owners *owners, uint64_t time);

#endif

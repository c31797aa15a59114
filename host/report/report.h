/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo report: shared declarations. A page has the capture's events as columns, and what the
 * timeline (host/timeline/timeline.h) makes of them, in the blocks of
 * docs/reference/report-data.md; the program that shows them is host/report/page/. Memory does not
 * grow with the events: a block is written when it is full, and the timeline is in files. Proof:
 * test/host/report/check.py.
 */
#ifndef HOST_REPORT_REPORT_H
#define HOST_REPORT_REPORT_H

#include "host/count.h"
#include "host/kev/kev.h"
#include "host/report/pack.h"

#include "host/timeline/timeline.h"

#define REPORT_NOBODY 0   /* index of the thread that is not known */
#define REPORT_SYMBOLS 64 /* times that --symbols is given */

/* ---- capture.c: a capture as blocks -------------------------------------------------- */

struct report {
    /* The caller's. */
    const char *input;  /* a path; `memory`: its name in messages */
    const void *memory; /* NULL: the path is read */
    size_t memory_bytes;
    bool by_descriptor; /* a file that may grow is read up to its end at the time of opening */
    int descriptor;
    const char *name; /* that the page shows; NULL: the input's */
    bool recover;
    bool grows;                          /* its end is no loss: there is more to come */
    bool has_events;                     /* the blocks have the events */
    bool is_kept;                        /* the timeline is kept, for windows of it */
    uint64_t whole_most;                 /* kept: events up to which there are no levels */
    const char *symbols[REPORT_SYMBOLS]; /* of --symbols */
    unsigned nsymbols;
    bool *no_symbols; /* set if --symbols can't be used, and it goes on without; NULL: it fails */
    timeline_progress *progress;
    void *progress_arg;
    struct pack pack; /* its output, or sink */
    /* The results. */
    bool levels; /* shares of states over time (not kept: the caller's) */
    bool has_d;  /* D programs have logged into it */
    struct kev_capture *capture;
    struct timeline *timeline;
    struct report_reach *reach;
    struct report_threads *threads;
    struct report_events *events;
    struct report_lanes *lanes;
    struct bytes losses, json, shares, usage; /* parts of the tables; json: all that is fixed */
    struct count count;
    uint64_t nevents, nlosses, lost; /* nevents: all of `count` */
    int64_t first, last;             /* of the events */
    char fault[512];                 /* of the timeline */
};

/* Copies standard input ("-") if it is a stream; only the beginning of what does not begin as a
 * capture, unless that may be damaged. False after a message. */
bool report_input_keep(const char *input, bool recover);
/* Opens the capture and learns its names. Returns KYMO_OK, or another status after a message; for a
 * report that grows, messages on the capture are left out. */
int report_open(struct report *report);
/* Writes the blocks; returns the timeline's outcome. *good is false after a failure that it has no
 * words for. */
int report_blocks(struct report *report, bool *good);
/* Writes the tables, with `members` of a JSON object, which begin with a comma; after the
 * lanes. */
void report_tables(const struct report *report, struct pack *pack, const char *members);
/* Also after a failure. */
void report_close(struct report *report);

/* ---- threads.c: who is who --------------------------------------------------------- */

struct report_threads;

/* After kev_capture_learn(). NULL: no memory. */
struct report_threads *threads_new(struct kev_capture *capture);
void threads_free(struct report_threads *threads);
/* The index of a thread's life at a time; REPORT_NOBODY: it has none. */
uint32_t threads_find(const struct report_threads *threads, int32_t pid, int32_t tid, int64_t ns);
/* All of them as JSON, in the order of their indexes. */
void threads_json(const struct report_threads *threads, struct bytes *json);

/* ---- events.c: the events as they are ---------------------------------------------- */

struct report_events;

struct report_events *events_new(struct kev_capture *capture, struct pack *pack);
void events_free(struct report_events *events);
/* The next event, of the thread with this index. False: no memory. */
bool events_take(struct report_events *events, const struct kev_item *item, uint32_t thread);
/* Writes the last block. */
void events_end(struct report_events *events);
/* Kinds of events, and the names of numbers in them, as members of a JSON object. */
void events_json(const struct report_events *events, struct bytes *json);

/* ---- window.c: what of the timeline a window shows ------------------------------------ */

struct report_list { /* indexes of entries of an array, ascending */
    uint32_t *index; /* NULL: of all */
    uint32_t count;
};

struct report_window {
    bool is_whole;
    int64_t from, to; /* ns, both ends included */
    struct report_list spans, messages, calls, functions, interrupts, handlers;
};

/* How far the entries of arrays reach, so that those that began long before a window are found. */
struct report_reach;

/* All of a timeline; it has no memory. */
struct report_window window_whole(const struct timeline *timeline);
struct report_reach *reach_new(const struct timeline *timeline);
void reach_free(struct report_reach *reach);
/* False: no memory. */
bool window_find(struct report_window *window, const struct timeline *timeline,
                 const struct report_reach *reach, int64_t from, int64_t to);
void window_free(struct report_window *window);

/* ---- lanes.c: what is drawn -------------------------------------------------------- */

struct report_lanes;

struct report_lanes *lanes_new(struct kev_capture *capture, struct pack *pack);
void lanes_free(struct report_lanes *lanes);
/* Functions get names from these ELF files and folders. False, after a message: it can't. */
bool lanes_symbols(struct report_lanes *lanes, const char *const *paths, unsigned n);
/* Takes the facts that the timeline does not keep, of an event of the thread with this index: names
 * of kernel calls and functions. */
void lanes_note(struct report_lanes *lanes, const struct kev_item *item, uint32_t thread);
/* Writes the blocks. A thread's index is its index in the timeline and 1. False: no memory. */
bool lanes_write(struct report_lanes *lanes, const struct timeline *timeline,
                 const struct report_window *window);
void lanes_json(const struct report_lanes *lanes, struct bytes *json);

/* ---- levels.c: instead of events, for a large capture ------------------------------ */

/* Writes the blocks, and a member of the tables. False: no memory. */
bool levels_write(const struct timeline *timeline, struct pack *pack, struct bytes *json);

/* ---- usage.c: the stretches behind the views --------------------------------------- */

/* Reads the capture once more, writes the blocks, and a member of the tables. False: no memory; or
 * the capture can't be read again, as `fault` says then. */
bool usage_write(struct report *report, struct pack *pack, struct bytes *json);

/* For a page without events: reads the capture once more for a member of the tables with the output
 * of `kymo stat`. False: it can't. */
bool usage_summary(const struct report *report, struct bytes *json);

/* ---- findings.c: what is wrong ----------------------------------------------------- */

/* Reads the capture once more, and writes a member of the tables, with a comma before it; of a
 * report that grows none. The member has the fault of a damaged capture. Returns false if it can't
 * be read any more, or there is no memory: report->fault. */
bool findings_write(struct report *report, struct bytes *json);

/* ---- aggregate.c: what D programs aggregated --------------------------------------- */

struct aggregate_source {
    const char *path;
    int descriptor; /* that the path is about (/proc/self/fd/N); -1: none */
    bool grows;     /* there is more to come: messages on its end are left out */
};

/* Writes a block, and a member of the tables, with a comma before it. kev_interrupted ends it. */
void aggregate_write(const struct aggregate_source *source, struct pack *pack, struct bytes *json);

/* ---- the page: embedded by host/report/report.mk ----------------------------------- */

extern const char report_page_head[], report_page_head_end[];
extern const char report_page_tail[], report_page_tail_end[];

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's records in a capture (-x log=1 put them there), read back: what each pass of a live consumer
 * would have taken from each CPU. The program is compiled again from the notes and runs into a
 * target (replay_wire.c) that answers from the capture, so the live consumer's own code prints it,
 * and the file is trusted no more than a target's answer. Tested by test/d_replay and
 * test/boot/dlog.py.
 */
#ifndef HOST_DTRACE_REPLAY_H
#define HOST_DTRACE_REPLAY_H

#include "host/remote/wire.h"
#include "abi/sys/dtrace.h"
#include "trace/dtrace/dtrace.h"

#include <stdio.h>

struct replay_record { /* also an aggregation's entry */
    uint32_t number;   /* of its CPU; of its snapshot */
    uint32_t pass;     /* entries only */
    uint32_t cpu;
    uint32_t bytes; /* of the event: at least the record's */
    const uint8_t *data;
};

struct replay_mark { /* what one pass took from one CPU */
    uint32_t pass, cpu;
    size_t order; /* in the file */
    bool taken, counted;
    uint32_t records; /* made so far */
    uint32_t entries; /* of the snapshot */
    uint64_t entry_drops;
    struct dtrace_snap snap;
};

struct replay_pass {
    uint32_t number, flags;
    size_t order;     /* in the file */
    bool told;        /* it has its status */
    size_t last_told; /* the newest pass up to this one that has one, plus 1; 0: none */
    struct dtrace_status status;
    const struct replay_mark *marks; /* by CPU */
    size_t nmarks;
};

struct replay_process {
    uint32_t pid;
    size_t order; /* in the file */
    struct kymo_d_process process;
};

struct replay { /* one consumer */
    struct replay *next;
    uint32_t handle;
    uint8_t *notes;
    uint32_t total, nnotes; /* bytes of the notes; of those that were found */
    uint8_t *have;          /* by byte of the notes */
    uint32_t begin_cpu, end_cpu;
    struct replay_record *records, *entries; /* by CPU (and pass), then by number */
    size_t nrecords, nentries;
    struct replay_pass *passes; /* by number */
    size_t npasses;
    struct replay_mark *marks; /* by pass, then by CPU */
    size_t nmarks;
    struct replay_process *processes; /* by pid */
    size_t nprocesses;
    uint64_t damaged; /* events that can't be */
    unsigned ncpus;
    bool ring; /* the capture is of a ring: its beginning is not the program's */
    /* While it is printed. */
    size_t pass;       /* the one under way */
    bool part;         /* of its records only as many as one answer holds, and nothing else */
    uint32_t *printed; /* by CPU: records up to this number */
};

/* The consumers of a capture, in the order in which they appear. NULL after a message: there is
 * none, or the file can't be read. What can be read of a file that is cut off is taken,
 * and said. */
struct replay *replay_read(const char *path);
void replay_free(struct replay *);
/* Returns the saved settings and sources; NULL: the notes are incomplete or invalid. */
const void *replay_saved(const struct replay *, size_t *bytes);
/* Answers as the target did. The replay must live longer. */
struct wire *replay_wire(struct replay *, const char **why);
/* The pass under way has more records of a CPU than one answer holds: parts of it go first. */
bool replay_overfull(const struct replay *);
/* Reports losses for which a live reader has no message, on stderr. */
void replay_report(const struct replay *);

/* ---- replay_sort.c ----------------------------------------------------------------- */

/* Sorts all that was collected, and joins what was said of one pass. False: no memory. */
bool replay_sort(struct replay *);
/* The newest status at the pass under way. */
const struct dtrace_status *replay_status(const struct replay *);
/* The first record of this CPU with a number of at least this: its index. */
size_t replay_first_record(const struct replay *, uint32_t cpu, uint32_t number);
/* The first entry of this CPU's snapshot: its index. */
size_t replay_first_entry(const struct replay *, uint32_t pass, uint32_t cpu);
/* Returns the pass's data of the CPU; NULL: not in the capture. */
const struct replay_mark *replay_mark(const struct replay_pass *, uint32_t cpu);
/* Returns the description of the process; NULL: none. */
const struct kymo_d_process *replay_process(const struct replay *, uint32_t pid);

/* ---- replay_probes.c --------------------------------------------------------------- */

struct replay_probes { /* struct kymo_d_probe and its strings, each in full */
    const uint8_t **probe;
    size_t n;
};
/* Adds the probes of an answer to KYMO_D_PROBES, which must stay. Returns false: no memory. */
bool replay_probes_add(struct replay_probes *, const uint8_t *answer, size_t bytes);
/* When all were added. */
void replay_probes_sort(struct replay_probes *);
/* Makes the target's answer to KYMO_D_PROBES for this description: returns its bytes, at most
 * `room`; 0: none. *after becomes the last one's id. */
size_t replay_probes(const struct replay_probes *, const void *in, size_t in_bytes, uint32_t *after,
                     uint8_t *out, size_t room);

#endif

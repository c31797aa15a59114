/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads D's records back from a capture, where -x log=1 put them: what each pass of a live consumer
 * would have taken from each CPU. The program is compiled again from the notes, and its target
 * (wire.c) answers from the capture. So the live consumer's own code prints the records, and the
 * file is trusted no more than a target's answer. Tested by test/host/dtrace/replay and
 * test/board/dlog.py.
 */
#ifndef HOST_DTRACE_REPLAY_REPLAY_H
#define HOST_DTRACE_REPLAY_REPLAY_H

#include "host/remote/wire.h"
#include "abi/sys/dtrace.h"
#include "trace/dtrace/dtrace.h"

#include <stdio.h>

struct replay_record { /* also an aggregation's entry */
    uint32_t number;   /* a record's on its CPU, an entry's in its snapshot */
    uint32_t pass;     /* entries only */
    uint32_t cpu;
    uint32_t bytes; /* of the event: at least the record's */
    const uint8_t *data;
};

struct replay_mark { /* what one pass took from one CPU */
    uint32_t pass, cpu;
    size_t order; /* in the file */
    bool taken, counted;
    uint32_t records; /* recorded so far */
    uint32_t entries; /* in the snapshot */
    uint32_t older;   /* so many of them, its first, are older than the capture of a ring */
    uint64_t entry_drops;
    struct dtrace_snap snap;
};

struct replay_pass {
    uint32_t number, flags;
    size_t order; /* in the file */
    bool has_status;
    size_t last_status; /* the newest pass up to this one that has a status, plus 1; 0: none */
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
    const char *path; /* of the capture, the caller's */
    uint32_t handle;
    uint8_t *notes;
    uint32_t total, nnotes; /* bytes of the notes; how many of them were found */
    uint8_t *have;          /* by byte of the notes: it was found */
    uint32_t begin_cpu, end_cpu;
    struct replay_record *records, *entries; /* by CPU (and pass), then by number */
    size_t nrecords, nentries;
    struct replay_pass *passes; /* by number */
    size_t npasses;
    struct replay_mark *marks; /* by pass, then by CPU */
    size_t nmarks;
    struct replay_process *processes; /* by pid */
    size_t nprocesses;
    uint64_t damaged; /* invalid events */
    unsigned ncpus;
    bool broken;    /* of the first one: the capture is not whole, which has been reported */
    bool ring;      /* the capture is of a ring: its beginning is not the program's */
    uint64_t begun; /* while it is read: CPUs of which a pass's event was read */
    /* While it is printed. */
    size_t pass;       /* the current one */
    bool part;         /* an answer holds as many of the pass's records as fit, and nothing else */
    uint32_t *printed; /* by CPU: the number of the next record to print */
};

/* Returns the consumers of a capture, in the order in which they appear. NULL after a message if
 * there is none, or the file can't be read. Of a truncated file the readable part is taken, with a
 * message. */
struct replay *replay_read(const char *path);
void replay_free(struct replay *);
/* Returns the saved settings and sources; NULL: the notes are incomplete or invalid. */
const void *replay_saved(const struct replay *, size_t *bytes);
/* Returns a wire that answers as the target did; the replay must outlive it. NULL with *why set if
 * the notes are incomplete or invalid. */
struct wire *replay_wire(struct replay *, const char **why);
/* Returns true while the current pass has more records of a CPU than one answer holds: then parts
 * of the pass go first. */
bool replay_overfull(const struct replay *);
/* Reports losses for which a live reader has no message, on stderr. */
void replay_report(const struct replay *);

/* ---- sort.c ------------------------------------------------------------------------- */

/* Sorts all that was collected, and joins what belongs to one pass. Returns false if there is no
 * memory. */
bool replay_sort(struct replay *);
/* Returns the newest status at the current pass. */
const struct dtrace_status *replay_status(const struct replay *);
/* Returns the index of the CPU's first record with a number of at least this. */
size_t replay_first_record(const struct replay *, uint32_t cpu, uint32_t number);
/* Returns the index of the first entry of the CPU's snapshot. */
size_t replay_first_entry(const struct replay *, uint32_t pass, uint32_t cpu);
/* Returns the pass's data of the CPU; NULL: not in the capture. */
const struct replay_mark *replay_mark(const struct replay_pass *, uint32_t cpu);
/* Returns the description of the process; NULL: none. */
const struct kymo_d_process *replay_process(const struct replay *, uint32_t pid);

/* ---- probes.c ----------------------------------------------------------------------- */

struct replay_probes { /* struct kymo_d_probe and its strings, each in full */
    const uint8_t **probe;
    size_t n;
};
/* Adds the probes of an answer to KYMO_D_PROBES, which must stay. Returns false if there is no
 * memory. */
bool replay_probes_add(struct replay_probes *, const uint8_t *answer, size_t bytes);
/* Sorts them, once all are added. */
void replay_probes_sort(struct replay_probes *);
/* Writes the target's answer to KYMO_D_PROBES for this description. Returns its bytes, at most
 * `room`; 0 if no probe matches. *after becomes the last one's id. */
size_t replay_probes(const struct replay_probes *, const void *in, size_t in_bytes, uint32_t *after,
                     uint8_t *out, size_t room);

#endif

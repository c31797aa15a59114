/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo diagnose`: what is wrong with a system, from one reading of its capture. Each finding is
 * derived from the flow (host/flow/flow.h); one that events are missing for is not made, and its
 * kind is in `untold`. Memory grows with the threads that the capture has, work with its events.
 * diagnose_run() is for other commands, too. One thread.
 * Proof: test/host/diagnose/check.
 */
#ifndef HOST_DIAGNOSE_DIAGNOSE_H
#define HOST_DIAGNOSE_DIAGNOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/kev/kev.h"

enum finding_kind {
#define FINDING(id, name, title, unit, needs, rests) FINDING_##id,
#include "host/diagnose/findings.def"
#undef FINDING
    FINDINGS
};

enum {
    FINDING_MOST = 20, /* of a kind that are kept, those of the greatest harm */
    FINDING_TEXT = 640,
};

struct finding {
    enum finding_kind kind;
    int64_t harm;            /* ns, or a count: finding_unit() */
    uint64_t count;          /* findings of this thread or process; all else is of the worst one */
    int64_t from, to;        /* ns since the capture's start */
    int32_t pid, tid;        /* whom it harms, or who does it; -1: nobody in particular */
    int32_t cpu;             /* -1 */
    uint32_t part;           /* apart from others of the same thread or process */
    uint32_t life;           /* serial of the thread: others may have had its numbers; 0: none */
    char name[64];           /* of the process; "": not known. Bytes of the capture */
    char text[FINDING_TEXT]; /* the evidence, a sentence without a full stop; likewise */
    char why[160];           /* the command that shows it, without the file; "": none */
};

struct untold { /* a kind of which nobody can tell that there is no finding */
    char reason[160], remedy[96];
};

struct diagnosis_result {
    struct finding *findings; /* by kind, in the order of findings.def, then by harm */
    unsigned count;
    struct untold untold[FINDINGS]; /* reason "": it can be told */
    char fault[512];                /* KEV_FAILED: file, place, remedy */
};

/* Reads an open capture, of which no item was taken, to its end. only: a bit for each kind that is
 * wanted. Returns KEV_COMPLETE, KEV_LOSSY or KEV_FAILED; diagnose_free() in any case. */
int diagnose_run(struct kev_capture *capture, uint32_t only, struct diagnosis_result *result);
void diagnose_free(struct diagnosis_result *result);

const char *finding_name(enum finding_kind kind);
const char *finding_title(enum finding_kind kind);
/* "ns" or "count". */
const char *finding_unit(enum finding_kind kind);
/* "certain"; "sign": what it says has happened, but may be meant so. */
const char *finding_confidence(enum finding_kind kind);

/* out.c: prints a result; `path` is the capture's in commands. */
void diagnose_text(const struct diagnosis_result *result, const char *path);
void diagnose_json(const struct diagnosis_result *result, const char *path);

#endif

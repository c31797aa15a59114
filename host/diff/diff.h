/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo diff`: what changed between two captures, or two sets of captures. What is compared is a
 * series: something that has a name on both sides, measured in blocks of each capture's time.
 * Blocks are drawn anew, with replacement, many times (in a set first captures, then their blocks):
 * how far the results lie apart says how sure a difference is. docs/guide/diff.md explains it. One
 * thread. Internal to host/diff. Proof: test/host/diff/.
 */
#ifndef HOST_DIFF_DIFF_H
#define HOST_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "host/kev/kev.h"

enum {
    DIFF_CAPTURES = 256, /* in a set */
    DIFF_CLASSES = 32,
    DIFF_TEXT = 256,
    DIFF_SPARSE = 5,   /* in fewer blocks than these, nothing is known of how a sum varies */
    DIFF_TAIL = 5,     /* a percentile needs so many values after it */
    DIFF_COVERED = 50, /* percent of the time that must be covered */
};

enum diff_kind { DIFF_CPU, DIFF_MESSAGE, DIFF_INTERRUPT, DIFF_EVENT, DIFF_KINDS };
/* The figure of a series that is compared. */
enum diff_metric { DIFF_SUM, DIFF_P50, DIFF_P90, DIFF_P99, DIFF_METRICS };
enum diff_verdict {
    DIFF_SAME,      /* no change is shown */
    DIFF_CHANGED,   /* the interval excludes "no change", and the change is not a small one */
    DIFF_NEW,       /* only B has it */
    DIFF_GONE,      /* only A has it */
    DIFF_FEW,       /* too few to compare */
    DIFF_UNDECIDED, /* events that it needs may be missing */
    DIFF_VERDICTS
};
extern const char *const diff_metric_names[DIFF_KINDS][DIFF_METRICS]; /* NULL: there is none */

/* Parts of a recording that may be missing, which make its comparison worthless unless accepted. */
enum diff_doubt { DOUBT_LOSS, DOUBT_GATE, DOUBT_PAUSES, DOUBT_UNKNOWN, DOUBT_NOISE, DOUBTS };
extern const char *const diff_doubt_names[DOUBTS];

struct diff_capture {
    char *path;
    char board[64];
    unsigned cpus;
    double seconds, covered; /* from the first to the last event; those of them in blocks */
    double *time;            /* seconds of each block */
    bool lost[DIFF_CLASSES], absent[DIFF_CLASSES]; /* by class of the slot */
    bool lost_any;
    bool nameless;                 /* it has a thread whose process's name is unknown */
    bool no_threads;               /* THREAD was not recorded, PROCESS perhaps */
    char doubt[DOUBTS][DIFF_TEXT]; /* "": none; of DOUBT_LOSS the first loss */
};

struct diff_value { /* a latency */
    int64_t ns;     /* INT64_MAX: not over at the capture's end */
    uint16_t capture, block;
};

struct diff_part { /* a series on one side */
    double *sums;  /* [capture * blocks + block]: seconds, or how many */
    struct diff_value *values;
    size_t nvalues, room;
    unsigned captures; /* in how many it is */
};

struct diff_series {
    enum diff_kind kind;
    char *name;
    unsigned class_id; /* DIFF_EVENT: of the slot */
    struct diff_part part[2];
};

struct diff_side {
    struct diff_capture captures[DIFF_CAPTURES];
    unsigned ncaptures;
    double *weights; /* [resample][capture * blocks + block] */
};

struct diff_result { /* a metric of a series, compared */
    const struct diff_series *series;
    enum diff_metric metric;
    enum diff_verdict verdict;
    double value[2];          /* a share, a second; ns */
    double change, low, high; /* ln(B / A) and its interval, which may be infinite */
    char reason[DIFF_TEXT];   /* DIFF_FEW, DIFF_UNDECIDED */
};

enum diff_limit_verdict { LIMIT_KEPT, LIMIT_BREACHED, LIMIT_UNDECIDED };
struct diff_limit {
    const char *text; /* as given */
    bool drop;        /* a fall, not a growth */
    bool lists;       /* of `new` or `gone`: how many threads there may be */
    enum diff_verdict listed;
    enum diff_kind kind;
    enum diff_metric metric;
    char *name;  /* of the series; NULL: of all */
    double most; /* fraction of A's value, or ns, or how many */
    bool in_ns;
    /* The result of the comparison. */
    enum diff_limit_verdict verdict;
    unsigned checked, few, past, undecided;
    const struct diff_result *worst; /* the first that is past it, or undecided */
};

struct diff {
    unsigned blocks, resamples;
    double confidence, least, least_cpu; /* fractions */
    uint64_t seed;
    bool json, all, recover, accept[DOUBTS];
    bool lacks; /* a capture is not whole: host/verify/ */
    struct diff_side side[2];
    struct diff_series **series;
    size_t nseries;
    void *tree; /* of series, by kind and name */
    struct diff_result *results;
    size_t nresults;
    struct diff_limit *limits;
    unsigned nlimits;
};

/* ---- measure.c: a capture becomes blocks of series ----------------------------------- */

/* Reads the side's next capture. Returns false after a message. */
bool measure_capture(struct diff *, unsigned side, const char *path);
/* All captures are measured: sorts the series. */
void measure_end(struct diff *);
void measure_free(struct diff *);

/* ---- doubt.c ------------------------------------------------------------------------- */

void doubt_scope(struct diff_capture *, const struct kev_loss *scope);
void doubt_loss(struct diff_capture *, const struct kev_loss *);
/* Makes the result DIFF_UNDECIDED, with the reason, if a capture can't tell. */
void doubt_judge(const struct diff *, struct diff_result *);

/* ---- compare.c ----------------------------------------------------------------------- */

/* Fills results. Returns false: no memory. */
bool compare_all(struct diff *);
/* The two-sided quantile of Student's distribution: |t| is below it with this probability. */
double compare_student(double confidence, double freedom);

/* ---- limit.c ------------------------------------------------------------------------- */

/* Adds `METRIC[:NAME]=LIMIT`. Returns the exit status, -1: added. */
int limit_add(struct diff *, const char *text, bool drop);
void limits_judge(struct diff *);

/* ---- out.c --------------------------------------------------------------------------- */

void diff_text(const struct diff *);
void diff_json(const struct diff *);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Distributions as rows of bars. Internal to host/dtrace.
 */
#ifndef HOST_DTRACE_GRAPH_H
#define HOST_DTRACE_GRAPH_H

#include "host/dt/dt.h"

struct graph_scale {
    double total; /* of |counts|: a bar of this much is 40 (or 20) columns wide */
    bool positives, negatives;
    bool utf8;
};

/* Returns the label of bucket i of a distribution, and the value that represents it in sums. */
void graph_label(enum dtrace_action_kind, uint64_t shape, unsigned bucket, char *to, size_t room);
int64_t graph_bucket_value(enum dtrace_action_kind, uint64_t shape, unsigned bucket);
unsigned graph_buckets(enum dtrace_action_kind, uint64_t shape);
/* The counts in a value's words: behind the shape, if there is one. */
const int64_t *graph_counts(enum dtrace_action_kind, const uint64_t *value);
/* First and last bucket to print. */
void graph_range(enum dtrace_action_kind, uint64_t shape, const int64_t *counts, unsigned *first,
                 unsigned *last);

struct graph_scale graph_scale_of(const int64_t *counts, unsigned n, bool zoom, bool utf8);
void graph_bar(const struct graph_scale *, int64_t count, FILE *);
/* The heading, the rows and a blank line. */
void graph_print(enum dtrace_action_kind, uint64_t shape, const uint64_t *value, uint64_t normal,
                 bool zoom, bool utf8, FILE *);

#endif

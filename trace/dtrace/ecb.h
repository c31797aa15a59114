/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enabling control blocks: one clause of one consumer on one probe, ready to run. Created with the
 * consumer and constant afterwards.
 */
#ifndef TRACE_DTRACE_ECB_H
#define TRACE_DTRACE_ECB_H

#include "trace/dtrace/aggregate.h"
#include "trace/dtrace/machine.h"

struct dtrace_action {
    uint16_t kind;     /* [I] enum dtrace_action_kind */
    bool is_string;    /* [I] records a string */
    bool is_block;     /* [I] records memory at an address */
    bool is_plain;     /* [I] only records a value */
    bool is_statement; /* [I] only evaluates its object */
    uint32_t number;   /* [I] for a fault's report: from 1; the number of its first key */
    const struct dtrace_object *object; /* [I] NULL: none */
    const struct dtrace_object
        *weight;                    /* [I] NULL: 1. For stacks `object` to `weight` are helpers */
    uint64_t arg;                   /* [I] as in the image */
    struct dtrace_aggregation *agg; /* [I] NULL: not aggregating */
    struct dtrace_recdesc rec;      /* [I] size 0: records nothing */
    bool described;                 /* [I] reported to the consumer, even if of size 0 */
};

/* The path on which any other clause is executed. */
enum dtrace_ecb_path {
    DTRACE_PATH_AGGREGATES, /* one action, which aggregates */
    DTRACE_PATH_ALL,
};

/* Additional bits: the consumer's first ECB on the probe; one without predicate and actions, which
 * records only that the probe fired. */
enum { DTRACE_ECB_FIRST = 1 << 15, DTRACE_ECB_BARE = 1 << 14 };
enum {
    DTRACE_ECB_ASIDE = 16
}; /* avoids tests for consumers that neither log nor retain and observe all */

struct dtrace_ecb {
    struct dtrace_ecb *next;               /* [a] next one on the same probe */
    struct dtrace_probe *probe;            /* [I] */
    struct dtrace_consumer *consumer;      /* [I] */
    const struct dtrace_object *predicate; /* [I] NULL: none */
    struct dtrace_action *actions; /* [I] keys are not in this list but in their aggregation */
    uint32_t nactions;             /* [I] */
    uint32_t epid;                 /* [I] */
    uint32_t clause;               /* [I] as in the image */
    uint32_t predicate_id;         /* [I] the id that a thread may cache; 0: can't be cached */
    /* [I] 1 << enum dtrace_state in which it runs, and DTRACE_ECB_FIRST, _BARE; <<
     * DTRACE_ECB_ASIDE: run by log.h */
    uint32_t states;
    uint32_t size;  /* [I] bytes of a record; 0: it records nothing */
    uint32_t align; /* [I] 4 or 8 */
    uint32_t cost; /* [I] steps of a firing, faults included; 0: created while there was no limit */
    enum dtrace_ecb_path path; /* [I] */
    bool reserves;             /* [I] its record is reserved before its actions run */
    bool speculates;           /* [I] */
    bool exits;                /* [I] */
};

/* Returns arg5 of the probe ERROR, the address, and beyond. */
uint64_t dtrace_error_argument(uint32_t probe, void *arg, unsigned n);

#endif

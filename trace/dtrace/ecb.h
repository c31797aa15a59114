/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enabling control blocks: one clause of one consumer on one probe, ready to run. Made when the
 * consumer is created, and constant from then on.
 */
#ifndef TRACE_DTRACE_ECB_H
#define TRACE_DTRACE_ECB_H

#include "trace/dtrace/aggregate.h"
#include "trace/dtrace/machine.h"

struct dtrace_action {
    uint16_t kind;                      /* [I] enum dtrace_action_kind */
    bool is_string;                     /* [I] records a string */
    bool is_block;                      /* [I] records what is at an address */
    bool is_plain;                      /* [I] records a value, and that is all it does */
    uint32_t number;                    /* [I] as a fault's is reported: from 1; of its first key */
    const struct dtrace_object *object; /* [I] NULL: none */
    const struct dtrace_object *weight; /* [I] NULL: 1 */
    uint64_t arg;                       /* [I] of the image */
    struct dtrace_aggregation *agg;     /* [I] NULL: not aggregating */
    struct dtrace_recdesc rec;          /* [I] size 0: records nothing */
    bool described;                     /* [I] the consumer is told of it, even if of size 0 */
};

enum dtrace_way {
    DTRACE_WAY_EMPTY,      /* no actions: that it fired is all it records */
    DTRACE_WAY_AGGREGATES, /* one action, an aggregating one */
    DTRACE_WAY_ALL,
};

enum { DTRACE_ECB_FIRST = 1 << 15 }; /* its consumer has none before it on the probe */
enum { DTRACE_ECB_ASIDE = 16 }; /* so who neither logs nor retains is not asked whether he does */

struct dtrace_ecb {
    struct dtrace_ecb *next;               /* [a] of the same probe */
    struct dtrace_probe *probe;            /* [I] */
    struct dtrace_consumer *consumer;      /* [I] */
    const struct dtrace_object *predicate; /* [I] NULL: none */
    struct dtrace_action *actions; /* [I] keys are not among them but in their aggregation */
    uint32_t nactions;             /* [I] */
    uint32_t epid;                 /* [I] */
    uint32_t clause;               /* [I] of the image */
    uint32_t predicate_id;         /* [I] what a thread may remember; 0: can't be cached */
    uint32_t states;     /* [I] 1 << enum dtrace_state: in which it runs, and DTRACE_ECB_FIRST; <<
                            DTRACE_ECB_ASIDE: by log.h */
    uint32_t size;       /* [I] bytes of a record; 0: it records nothing */
    uint32_t align;      /* [I] 4 or 8 */
    enum dtrace_way way; /* [I] how it runs */
    bool reserves;       /* [I] its record gets room before its actions run */
    bool speculates;     /* [I] */
    bool exits;          /* [I] */
};

/* arg5 and on of the probe ERROR: the address. */
uint64_t dtrace_error_argument(uint32_t probe, void *arg, unsigned n);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A consumer inside the machine: its program, its ECBs, its memory per CPU, its state.
 */
#ifndef TRACE_D_CONSUMER_H
#define TRACE_D_CONSUMER_H

#include "trace/d/buffer.h"
#include "trace/d/dynvar.h"
#include "trace/d/ecb.h"
#include "trace/d/speculate.h"

struct d_block { /* from d_port_alloc() */
    void *at;
    size_t bytes;
};

struct d_consumer_cpu {
    struct d_context context;                  /* [c] first: a firing has both in one register */
    struct d_buffer principal;                 /* [c] active NULL: this CPU is not traced */
    struct d_aggbuf agg;                       /* [c] */
    struct d_block principal_block, agg_block; /* [I] */
    uint64_t chill_since, chilled;             /* [c] ns: of this second */
    uint64_t speculative_drops;                /* [c] */
    uint32_t logged;                           /* [c] records made, with D_CREATE_LOG */
    bool traced;                               /* [I] */
};

struct d_consumer {
    uint32_t state;                 /* [a] enum d_state */
    struct d_consumer_cpu *cpus;    /* [I] */
    struct d_consumer *next;        /* [k] all that live */
    uint32_t exited;                /* [a] exit() was called */
    int32_t exit_status;            /* [a] */
    uint32_t exit_dropped;          /* [a] its record had no room */
    uint64_t errors, double_errors; /* [a] */
    uint64_t alive;                 /* [k] ns: when it last asked for its status */
    bool unattended;                /* [k] the boot's, not claimed yet: may be silent */
    bool logs;                      /* [I] its records go to the event log */
    bool retains;                   /* [I] its buffers are in retained memory */
    uint32_t log_id;                /* [I] who it is there */
    struct d_kept *kept;            /* [I] what is beside these buffers; NULL: nothing */
    unsigned begin_cpu, end_cpu;    /* [k] where BEGIN and END fired */
    unsigned first_cpu;      /* [I] the first that is traced: BEGIN, END and tick fire there */
    struct d_block notes;    /* [k] the host's, for the log; none: at NULL */
    uint64_t clean_interval; /* [I] ns */
    struct d_code code;      /* [I] */
    struct d_speculations speculations;
    struct d_dynvars dynvars;
    struct d_ecb *ecbs;          /* [I] by EPID - 1 */
    struct d_shape *shape_table; /* [I] by EPID - 1 */
    struct d_shapes shapes;      /* [I] */
    struct d_action *actions;    /* [I] of all ECBs, keys too */
    struct d_aggregation *aggs;  /* [I] by id - 1 */
    uint32_t necbs, nactions, naggs, matched;
    uint32_t enabled;                                /* [k] ECBs that are on their probes */
    struct d_sizes sizes;                            /* [I] */
    uint32_t ncpus;                                  /* [I] */
    struct d_block ecb_block, cpu_block, spec_block; /* [I] */
};

/* The consumer's tables from its checked image (enable.c). 0 or a negative errno. */
int d_ecbs_make(struct d_consumer *, const struct d_image *, unsigned flags, struct d_refusal *);
/* Its buffers, speculations and dynamic variables (memory.c). */
int d_memory_make(struct d_consumer *, const struct d_image *, struct d_refusal *);
void d_memory_free(struct d_consumer *);
bool d_block_make(struct d_block *, size_t bytes);
/* Of what must outlive the machine, if the consumer retains. */
bool d_block_make_kept(const struct d_consumer *, struct d_block *, size_t bytes);
void d_block_free(struct d_block *);

/* One ECB fires (fire.c), on this CPU with nothing else firing. */
void d_ecb_fire(const struct d_ecb *, const uint64_t args[5]);
/* Stops recording: exit() ran (fire.c). */
void d_consumer_exit(struct d_consumer *, int32_t status, bool dropped);

#endif

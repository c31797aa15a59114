/* SPDX-License-Identifier: BSD-2-Clause */
/* A consumer inside the machine: its program, ECBs, per-CPU memory, and state. */
#ifndef TRACE_DTRACE_CONSUMER_H
#define TRACE_DTRACE_CONSUMER_H

#include "trace/dtrace/buffer.h"
#include "trace/dtrace/dynvar.h"
#include "trace/dtrace/ecb.h"
#include "trace/dtrace/speculate.h"

struct dtrace_block { /* from dtrace_port_alloc() */
    void *at;
    size_t bytes;
};

struct dtrace_consumer_cpu {
    struct dtrace_context context;  /* [c] must be first: a probe firing has both in one register */
    struct dtrace_buffer principal; /* [c] active NULL: this CPU is not traced */
    struct dtrace_aggbuf agg;       /* [c] */
    struct dtrace_block principal_block, agg_block; /* [I] */
    uint64_t chill_since, chilled; /* [c] ns: this second's start; the time chilled in it */
    uint64_t speculative_drops;    /* [c] */
    uint32_t logged;               /* [c] number of records, with DTRACE_CREATE_LOG */
    bool traced;                   /* [I] */
};

/* The most frequently used fields come first, the large structures last: short instructions reach
 * 128 bytes. */
struct dtrace_consumer {
    uint32_t state;                   /* [a] enum dtrace_state */
    struct dtrace_consumer_cpu *cpus; /* [I] */
    struct dtrace_consumer *next;     /* [k] all living consumers */
    bool unattended;  /* [k] made at boot and not claimed yet: not ended for silence */
    bool logs;        /* [I] its records go to the event log */
    bool retains;     /* [I] its buffers are in retained memory */
    uint8_t counters; /* [k] mask of the counters that its variables need */
    uint32_t ncpus;   /* [I] */
    uint32_t necbs, nactions, naggs, matched; /* [I] */
    uint32_t enabled;                         /* [k] ECBs enabled on their probes */
    struct dtrace_ecb *ecbs;                  /* [I] by EPID - 1 */
    struct dtrace_shape *shape_table;         /* [I] by EPID - 1 */
    struct dtrace_shapes shapes;              /* [I] */
    struct dtrace_action *actions;            /* [I] of all ECBs, keys too */
    struct dtrace_aggregation *aggs;          /* [I] by id - 1 */
    struct dtrace_ecb *error;                 /* [I] its first ECB on ERROR; NULL: none */
    struct dtrace_kept *kept;                 /* [I] data kept with these buffers; NULL: none */
    int32_t own;           /* [I] observes only this process and those that it started; 0: all */
    uint32_t log_id;       /* [I] its id in the log */
    uint32_t exited;       /* [a] exit() was called */
    int32_t exit_status;   /* [a] */
    uint32_t exit_dropped; /* [a] exit()'s record did not fit */
    unsigned begin_cpu, end_cpu; /* [k] CPUs on which BEGIN and END fired */
    unsigned first_cpu;          /* [I] first traced CPU, on which BEGIN, END and tick fire */
    struct dtrace_block notes;   /* [k] the host's notes for the log; NULL: none */
    struct dtrace_block ecb_block, cpu_block, spec_block; /* [I] */
    uint64_t errors, double_errors;                       /* [a] */
    uint64_t stack_string_overflows;                      /* [a] stacks whose names were lost */
    uint64_t alive;            /* [k] ns: when its status was last requested */
    size_t clean_interval;     /* [I] ns */
    struct dtrace_sizes sizes; /* [I] */
    struct dtrace_code code;   /* [I] */
    struct dtrace_speculations speculations;
    struct dtrace_dynvars dynvars;
};

/* Creates the consumer's tables from its checked image (enable.c). Returns 0 or a negative
 * errno. */
int dtrace_ecbs_make(struct dtrace_consumer *, const struct dtrace_image *, unsigned flags,
                     struct dtrace_refusal *);
/* Allocates buffers, speculations and dynamic variables (memory.c). */
int dtrace_memory_make(struct dtrace_consumer *, const struct dtrace_image *,
                       struct dtrace_refusal *);
void dtrace_memory_free(struct dtrace_consumer *);
bool dtrace_block_make(struct dtrace_block *, size_t bytes);
/* Allocates memory that must outlive the machine if the consumer retains. */
bool dtrace_block_make_kept(const struct dtrace_consumer *, struct dtrace_block *, size_t bytes);
void dtrace_block_free(struct dtrace_block *);

/* Allocate the counters that the loaded program's variables need, and free them (counters.c).
 * Return 0 or a negative errno. */
int dtrace_counters_begin(struct dtrace_consumer *, struct dtrace_refusal *);
void dtrace_counters_end(struct dtrace_consumer *);

/* Fires one ECB (fire.c) on this CPU, with no other probe firing on it. */
void dtrace_ecb_fire(const struct dtrace_ecb *, const uint64_t args[5]);
/* Fires its consumer's ECBs of a probe, from this one on; NULL: none. They are consecutive in the
 * probe's list, because a consumer enables all of its ECBs in one command. So ECBs of other
 * consumers, whose number has no bound, are not visited. */
void dtrace_ecbs_fire(const struct dtrace_ecb *first, const uint64_t args[5]);
/* Fires a copy of an ECB, made by the caller. */
void dtrace_ecb_fire_copy(struct dtrace_ecb *, const uint64_t args[5]);
/* Stops recording because exit() ran (fire.c). */
void dtrace_consumer_exit(struct dtrace_consumer *, int32_t status, bool dropped);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynamic variables: elements of associative arrays, and thread-local variables. A hash table with
 * a lock per chain over chunks of one size, allocated beforehand.
 *
 *   clean -> a CPU's free list -> in the table -> that CPU's dirty list -> rinsing -> clean
 *
 * Another CPU may still read a chunk that was just freed, so it is reused only after the cleaner
 * has visited every CPU twice. The cleaner joins lists, whatever their length, so it delays no CPU.
 * Tested by test/trace/dtrace/fire/dynvar_test.c, test/trace/dtrace/random.
 */
#ifndef TRACE_DTRACE_DYNVAR_H
#define TRACE_DTRACE_DYNVAR_H

#include "trace/assert.h"
#include "trace/dtrace/machine.h"

struct dtrace_chunk {
    uint32_t next; /* [b] in its chain or list: number + 1 */
    uint32_t used; /* [b] in the table */
    /* Identity of the variable: all fields from here to the end of its keys must be equal. */
    uint32_t hash;                  /* [b] */
    uint32_t key_bytes;             /* [b] */
    uint64_t thread;                /* [b] 0: not thread-local */
    uint16_t sizes[DIF_TUPLE_REGS]; /* [b] of each key, plus 1; 0: by value */
    uint32_t variable;              /* [b] number in dtrace_code.dynamics */
    uint32_t pad;
    uint64_t keys[]; /* [b] key_bytes; then, after the room for keys, the data */
};

struct dtrace_chain {
    uint32_t lock;  /* [a] 1: taken. Protects [b] while no other probe fires on the CPU */
    uint32_t first; /* [b] */
};

/* List links; `last` is the first list's end, so that lists can be joined at once. Empty: first is
 * 0. */
struct dtrace_chunk_list {
    uint32_t first, last, count;
};

/* The number of chunks that a CPU takes from the clean list at a time; small, because a probe
 * firing takes them. */
enum { DTRACE_DYNVAR_BATCH = 16 };

struct dtrace_dynvar_cpu {
    uint32_t free;                  /* [c] list */
    struct dtrace_chunk_list dirty; /* [c] */
    struct dtrace_chunk *wanted;    /* [c] the searched key is assembled here: no data */
};

struct dtrace_dynvars {
    uint8_t *chunks;                  /* [I] */
    uint32_t nchunks;                 /* [I] */
    uint32_t chunk_bytes;             /* [I] */
    uint32_t key_room;                /* [I] bytes of keys in a chunk */
    uint32_t data_at;                 /* [I] offset of the data in a chunk */
    uint32_t data_room;               /* [I] bytes of data in a chunk */
    struct dtrace_chain *chains;      /* [I] */
    uint32_t nchains;                 /* [I] a power of two */
    struct dtrace_chain clean;        /* list from which every CPU takes chunks, and its lock */
    uint32_t batch;                   /* [b] number taken at a time, DTRACE_DYNVAR_BATCH at most */
    struct dtrace_chunk_list rinsing; /* [k] read without the lock by code that counts a drop */
    uint32_t dirty_count;             /* [a] chunks waiting for the cleaner */
    struct dtrace_dynvar_cpu *cpus;   /* [I] */
    uint32_t ncpus;                   /* [I] */
    uint64_t drops, rinsing_drops, dirty_drops; /* [a] */
    void *block;                                /* [I] all of the above */
    size_t block_bytes;                         /* [I] */
};

/* Returns the chunk of a link, which isn't 0. */
static inline struct dtrace_chunk *dtrace_chunk_at(const struct dtrace_dynvars *v, uint32_t link)
{
    trace_assert(link - 1 < v->nchunks);
    return (struct dtrace_chunk *)(v->chunks + (size_t)(link - 1) * v->chunk_bytes);
}

/* Allocates room for this code's variables: at most `bytes`, but at least one variable. Returns
 * false if there is no memory. */
bool dtrace_dynvars_make(struct dtrace_dynvars *, const struct dtrace_code *, size_t bytes,
                         uint32_t ncpus);
void dtrace_dynvars_free(struct dtrace_dynvars *);
/* Makes chunks that were freed long enough ago usable again. Control context. */
void dtrace_dynvars_clean(struct dtrace_dynvars *);

#endif

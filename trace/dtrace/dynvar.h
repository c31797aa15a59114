/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynamic variables: elements of associative arrays, and thread-local variables. A hash table with
 * a lock per chain over chunks of one size, allocated beforehand.
 *
 *   clean -> a CPU's free list -> in the table -> that CPU's dirty list -> rinsing -> clean
 *
 * Another CPU may still look at a chunk that was just freed; it is used again only after every CPU
 * has passed the cleaner twice. The cleaner joins lists, whatever their length: it holds up no CPU.
 * Tested by test/d_fire/dynvar_test.c, test/d_random.
 */
#ifndef TRACE_DTRACE_DYNVAR_H
#define TRACE_DTRACE_DYNVAR_H

#include "trace/dtrace/machine.h"

struct dtrace_chunk {
    uint32_t next; /* [b] in its chain or list: number + 1 */
    uint32_t used; /* [b] it is in the table */
    /* What it is: from here to the end of its keys all must agree. */
    uint32_t hash;                  /* [b] */
    uint32_t key_bytes;             /* [b] */
    uint64_t thread;                /* [b] 0: not of a thread */
    uint16_t sizes[DIF_TUPLE_REGS]; /* [b] of each key + 1; 0: a value */
    uint32_t variable;              /* [b] number in dtrace_code.dynamics */
    uint32_t pad;
    uint64_t keys[]; /* [b] key_bytes; behind the room for them, the data */
};

struct dtrace_chain {
    uint32_t lock;  /* [a] 1: taken. Protects [b], with nothing else firing on the CPU */
    uint32_t first; /* [b] */
};

/* Links; the last is the first one's end, so that lists are joined at once. Empty: first is 0. */
struct dtrace_chunk_list {
    uint32_t first, last, count;
};

/* Chunks that a CPU takes from the clean list at a time, which is a firing's time: few. */
enum { DTRACE_DYNVAR_BATCH = 16 };

struct dtrace_dynvar_cpu {
    uint32_t free;                  /* [c] list */
    struct dtrace_chunk_list dirty; /* [c] */
    struct dtrace_chunk *wanted;    /* [c] what is looked for is put together here: no data */
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
    struct dtrace_chain clean;        /* list that every CPU takes some of, and its lock */
    uint32_t batch;                   /* [I] how many at a time, DTRACE_DYNVAR_BATCH at most */
    struct dtrace_chunk_list rinsing; /* [k]; who counts a drop looks at its count */
    uint32_t dirty_count;             /* [a] chunks that wait for the cleaner */
    struct dtrace_dynvar_cpu *cpus;   /* [I] */
    uint32_t ncpus;                   /* [I] */
    uint64_t drops, rinsing_drops, dirty_drops; /* [a] */
    void *block;                                /* [I] all of it */
    size_t block_bytes;                         /* [I] */
};

/* Room for variables of this code, of at most `bytes` but at least one. False: no memory. */
bool dtrace_dynvars_make(struct dtrace_dynvars *, const struct dtrace_code *, size_t bytes,
                         uint32_t ncpus);
void dtrace_dynvars_free(struct dtrace_dynvars *);
/* Control context: makes chunks that were freed a while ago usable again. */
void dtrace_dynvars_clean(struct dtrace_dynvars *);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Speculations: records set aside until the program decides whether to keep them. Each speculation
 * has a buffer per CPU. Ids are 1 to nspec. Tested by test/trace/dtrace.
 *
 *   INACTIVE -speculation()-> ACTIVE -speculate()-> ONE -on another CPU-> MANY
 *   ACTIVE, ONE, MANY -commit()-> COMMITTING, -discard()-> DISCARDING
 *   COMMITTING, DISCARDING -cleaning-> INACTIVE
 *
 * The committing CPU moves its own records at once; the cleaner moves the others', on their CPUs.
 * Until then the id is not reused.
 */
#ifndef TRACE_DTRACE_SPECULATE_H
#define TRACE_DTRACE_SPECULATE_H

#include "trace/dtrace/buffer.h"

enum dtrace_speculation_state {
    DTRACE_SPEC_INACTIVE,
    DTRACE_SPEC_ACTIVE,
    DTRACE_SPEC_ONE, /* the CPU's number is in the bits above */
    DTRACE_SPEC_MANY,
    DTRACE_SPEC_COMMITTING,
    DTRACE_SPEC_DISCARDING,
};

struct dtrace_speculation {
    uint32_t state;                /* [a] state | cleaner's flag << 7 | cpu << 8 */
    struct dtrace_buffer *buffers; /* [c] by CPU; policy SWITCH, no spare */
};

struct dtrace_speculations {
    struct dtrace_speculation *all; /* [I] */
    uint32_t count;                 /* [I] nspec */
    /* [a] speculation() found none free: all wait for the cleaner; or not all */
    uint64_t busy, none;
};

uint32_t dtrace_speculation_new(struct dtrace_speculations *);
/* Returns the buffer for this CPU's records, or NULL if the clause is abandoned. */
struct dtrace_buffer *dtrace_speculation_buffer(struct dtrace_speculations *, uint64_t id,
                                                unsigned cpu);
/* Return false if there is no such id. */
bool dtrace_speculation_commit(struct dtrace_speculations *, uint64_t id, unsigned cpu,
                               struct dtrace_buffer *to, const struct dtrace_shapes *);
bool dtrace_speculation_discard(struct dtrace_speculations *, uint64_t id);

/* The cleaner's steps: marks the speculations that need cleaning (false: none), cleans them on each
 * CPU, then frees them. Those committed meanwhile wait for the next pass. */
bool dtrace_speculation_clean_begin(struct dtrace_speculations *);
void dtrace_speculation_clean_cpu(struct dtrace_speculations *, unsigned cpu,
                                  struct dtrace_buffer *to, const struct dtrace_shapes *);
void dtrace_speculation_clean_end(struct dtrace_speculations *);

#endif

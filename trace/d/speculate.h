/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Speculations: records set aside until the program knows whether it wants them. Each has a buffer
 * per CPU. Ids are 1 to nspec. Tested by test/d_buffer.
 *
 *   INACTIVE -speculation()-> ACTIVE -speculate()-> ONE -on another CPU-> MANY
 *   ACTIVE, ONE, MANY -commit()-> COMMITTING, -discard()-> DISCARDING
 *   COMMITTING, DISCARDING -cleaning-> INACTIVE
 *
 * The CPU that commits moves its own records at once; the others' are moved by the cleaner, on
 * their CPUs. Until then the id can't be had again.
 */
#ifndef TRACE_D_SPECULATE_H
#define TRACE_D_SPECULATE_H

#include "trace/d/buffer.h"

enum d_speculation_state {
    D_SPEC_INACTIVE,
    D_SPEC_ACTIVE,
    D_SPEC_ONE, /* the CPU is in the bits above */
    D_SPEC_MANY,
    D_SPEC_COMMITTING,
    D_SPEC_DISCARDING,
};

struct d_speculation {
    uint32_t state;           /* [a] state | cleaner's mark << 7 | cpu << 8 */
    struct d_buffer *buffers; /* [c] by CPU; policy SWITCH, no spare */
};

struct d_speculations {
    struct d_speculation *all; /* [I] */
    uint32_t count;            /* [I] nspec */
    uint64_t busy, none; /* [a] speculation() found none free: all wait for the cleaner / not */
};

uint32_t d_speculation_new(struct d_speculations *);
/* The buffer that this CPU's records go to; NULL: the clause is to be abandoned. */
struct d_buffer *d_speculation_buffer(struct d_speculations *, uint64_t id, unsigned cpu);
/* False: there is no such id. */
bool d_speculation_commit(struct d_speculations *, uint64_t id, unsigned cpu, struct d_buffer *to,
                          const struct d_shapes *);
bool d_speculation_discard(struct d_speculations *, uint64_t id);

/* The cleaner: marks what is to be cleaned (false: nothing), does that on each CPU, then frees it.
 * What is committed meanwhile waits for the next time. */
bool d_speculation_clean_begin(struct d_speculations *);
void d_speculation_clean_cpu(struct d_speculations *, unsigned cpu, struct d_buffer *to,
                             const struct d_shapes *);
void d_speculation_clean_end(struct d_speculations *);

#endif

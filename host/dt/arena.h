/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that lives as long as its session: given out in pieces, freed all at once. Internal to
 * host/dt.
 */
#ifndef HOST_DT_ARENA_H
#define HOST_DT_ARENA_H

#include <stddef.h>

struct dt_arena_block;
struct dt_arena {
    struct dt_arena_block *blocks; /* the newest first */
};

void *dt_arena_alloc(struct dt_arena *,
                     size_t); /* zeroed, aligned to 16; ends the program if none */
void dt_arena_free(struct dt_arena *);

#endif

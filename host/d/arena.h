/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that lives as long as its session: given out in pieces, freed all at once. Internal to
 * host/d.
 */
#ifndef HOST_D_ARENA_H
#define HOST_D_ARENA_H

#include <stddef.h>

struct d_arena_block;
struct d_arena {
    struct d_arena_block *blocks; /* the newest first */
};

void *d_arena_alloc(struct d_arena *, size_t); /* zeroed, aligned to 16; ends the program if none */
void d_arena_free(struct d_arena *);

#endif

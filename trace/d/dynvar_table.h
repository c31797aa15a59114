/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of dynamic variables, inside. Internal to dynvar.c and dynvar_memory.c.
 */
#ifndef TRACE_D_DYNVAR_TABLE_H
#define TRACE_D_DYNVAR_TABLE_H

#include "trace/d/dynvar.h"

static inline struct d_chunk *d_chunk_at(const struct d_dynvars *v, uint32_t link)
{
    return (struct d_chunk *)(v->chunks + (size_t)(link - 1) * v->chunk_bytes);
}

static inline size_t d_round_up(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

#endif

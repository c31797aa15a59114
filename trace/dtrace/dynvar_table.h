/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the table of dynamic variables, for dynvar.c and dynvar_memory.c. */
#ifndef TRACE_DTRACE_DYNVAR_TABLE_H
#define TRACE_DTRACE_DYNVAR_TABLE_H

#include "trace/dtrace/dynvar.h"

static inline struct dtrace_chunk *dtrace_chunk_at(const struct dtrace_dynvars *v, uint32_t link)
{
    return (struct dtrace_chunk *)(v->chunks + (size_t)(link - 1) * v->chunk_bytes);
}

static inline size_t dtrace_round_up(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

#endif

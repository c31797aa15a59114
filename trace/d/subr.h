/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subroutines: each finds its arguments in the context's keys, at least as many as its table entry
 * says, and gives its result; after a fault that is not used. What they do is in the D language's
 * description; here is only who is where. Of a firing.
 */
#ifndef TRACE_D_SUBR_H
#define TRACE_D_SUBR_H

#include "trace/d/text.h"

struct d_subr {
    uint64_t (*run)(struct d_context *); /* NULL: it has no meaning here */
    uint8_t least;                       /* arguments */
};

extern const struct d_subr d_subrs[DIF_SUBR_MAX + 1];
/* Those that a board may leave out: a makefile takes subr_extra.c, json.c, strtoll.c and inet.c, or
 * subr_none.c. Without a run: it isn't one of them, or it was left out. */
struct d_subr d_subr_extra(uint32_t number);

static inline uint64_t d_arg(const struct d_context *c, unsigned n)
{
    return c->keys[n].value;
}

/* An argument that may be left out. */
static inline uint64_t d_arg_or(const struct d_context *c, unsigned n, uint64_t absent)
{
    return n < c->nkeys ? c->keys[n].value : absent;
}

/* Length of a string argument. */
static inline size_t d_arg_length(struct d_context *c, unsigned n)
{
    const struct d_key *key = &c->keys[n];

    return key->string ? key->size : d_text_length(c, key->value, c->code->strsize);
}

static inline uint64_t d_illegal(struct d_context *c)
{
    d_fault(c, DIF_FAULT_ILLOP, 0);
    return 0;
}

/* subr_memory.c */
uint64_t d_subr_alloca(struct d_context *);
uint64_t d_subr_bcopy(struct d_context *);
uint64_t d_subr_copyin(struct d_context *);
uint64_t d_subr_copyinto(struct d_context *);
uint64_t d_subr_copyinstr(struct d_context *);
uint64_t d_subr_copyout(struct d_context *);
uint64_t d_subr_copyoutstr(struct d_context *);
uint64_t d_subr_memref(struct d_context *);
/* subr_number.c */
uint64_t d_subr_rand(struct d_context *);
uint64_t d_subr_speculation(struct d_context *);
uint64_t d_subr_progenyof(struct d_context *);
uint64_t d_subr_swap16(struct d_context *);
uint64_t d_subr_swap32(struct d_context *);
uint64_t d_subr_swap64(struct d_context *);
uint64_t d_subr_lltostr(struct d_context *);
/* subr_string.c */
uint64_t d_subr_strlen(struct d_context *);
uint64_t d_subr_strjoin(struct d_context *);
uint64_t d_subr_substr(struct d_context *);
uint64_t d_subr_toupper(struct d_context *);
uint64_t d_subr_tolower(struct d_context *);
uint64_t d_subr_strtok(struct d_context *);
/* subr_search.c */
uint64_t d_subr_strchr(struct d_context *);
uint64_t d_subr_strrchr(struct d_context *);
uint64_t d_subr_strstr(struct d_context *);
uint64_t d_subr_index(struct d_context *);
uint64_t d_subr_rindex(struct d_context *);
/* subr_path.c */
uint64_t d_subr_basename(struct d_context *);
uint64_t d_subr_dirname(struct d_context *);
uint64_t d_subr_cleanpath(struct d_context *);
/* json.c, strtoll.c, inet.c */
uint64_t d_subr_json(struct d_context *);
uint64_t d_subr_strtoll(struct d_context *);
uint64_t d_subr_inet_ntop(struct d_context *);
uint64_t d_subr_inet_ntoa(struct d_context *);
uint64_t d_subr_inet_ntoa6(struct d_context *);

#endif

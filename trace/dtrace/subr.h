/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subroutines: each finds its arguments in the context's keys, at least as many as its table entry
 * requires, and returns its result, which is ignored after a fault. The D language's description
 * specifies them. Probe context.
 */
#ifndef TRACE_DTRACE_SUBR_H
#define TRACE_DTRACE_SUBR_H

#include "trace/dtrace/text.h"

struct dtrace_subr {
    uint64_t (*run)(struct dtrace_context *); /* NULL: end of the table */
    /* number of the subroutine; least number of arguments */
    uint8_t number, least;
};

/* The available subroutines. A makefile takes subr_extra.c: all of them; or subr_none.c: a board
 * goes without json.c, strtoll.c, inet.c, subr_path.c, subr_search.c and destructive.c. */
extern const struct dtrace_subr dtrace_subrs[];
#define DTRACE_SUBRS_LEAST(ROW) \
    ROW(rand, 0, rand) \
    ROW(copyin, 2, copyin) \
    ROW(copyinstr, 1, copyinstr) \
    ROW(speculation, 0, speculation) \
    ROW(progenyof, 1, progenyof) \
    ROW(pidname, 1, pidname) \
    ROW(lwpinfo, 3, lwpinfo) \
    ROW(strlen, 1, strlen) \
    ROW(alloca, 1, alloca) \
    ROW(bcopy, 3, bcopy) \
    ROW(copyinto, 3, copyinto) \
    ROW(strjoin, 2, strjoin) \
    ROW(lltostr, 1, lltostr) \
    ROW(strtok, 2, strtok) \
    ROW(substr, 2, substr) \
    ROW(htons, 1, swap16) \
    ROW(htonl, 1, swap32) \
    ROW(htonll, 1, swap64) \
    ROW(ntohs, 1, swap16) \
    ROW(ntohl, 1, swap32) \
    ROW(ntohll, 1, swap64) ROW(toupper, 1, toupper) ROW(tolower, 1, tolower) ROW(memref, 2, memref)
#define DTRACE_SUBRS_MORE(ROW) \
    ROW(copyout, 3, copyout) \
    ROW(copyoutstr, 3, copyoutstr) \
    ROW(basename, 1, basename) \
    ROW(dirname, 1, dirname) \
    ROW(cleanpath, 1, cleanpath) \
    ROW(strchr, 2, strchr) \
    ROW(strrchr, 2, strrchr) \
    ROW(strstr, 2, strstr) \
    ROW(index, 2, index) \
    ROW(rindex, 2, rindex) \
    ROW(json, 2, json) \
    ROW(strtoll, 1, strtoll) \
    ROW(inet_ntop, 2, inet_ntop) ROW(inet_ntoa, 1, inet_ntoa) ROW(inet_ntoa6, 1, inet_ntoa6)
#define DTRACE_SUBR_ROW(name, least, function) {dtrace_subr_##function, DIF_SUBR_##name, least},

static inline uint64_t dtrace_arg(const struct dtrace_context *c, unsigned n)
{
    return c->keys[n].value;
}

/* Returns an optional argument. */
static inline uint64_t dtrace_arg_or(const struct dtrace_context *c, unsigned n, uint64_t absent)
{
    return n < c->nkeys ? c->keys[n].value : absent;
}

/* Returns the length of a string argument. */
static inline size_t dtrace_arg_length(struct dtrace_context *c, unsigned n)
{
    const struct dtrace_key *key = &c->keys[n];

    return key->string ? key->size : dtrace_text_length(c, key->value, c->code->strsize);
}

/* Faults with an illegal operation; returns 0. */
__attribute__((cold)) uint64_t dtrace_illegal(struct dtrace_context *);

/* subr_memory.c */
uint64_t dtrace_subr_alloca(struct dtrace_context *);
uint64_t dtrace_subr_bcopy(struct dtrace_context *);
uint64_t dtrace_subr_copyin(struct dtrace_context *);
uint64_t dtrace_subr_copyinto(struct dtrace_context *);
uint64_t dtrace_subr_copyinstr(struct dtrace_context *);
uint64_t dtrace_subr_copyout(struct dtrace_context *);
uint64_t dtrace_subr_copyoutstr(struct dtrace_context *);
uint64_t dtrace_subr_memref(struct dtrace_context *);
/* subr_number.c */
uint64_t dtrace_subr_rand(struct dtrace_context *);
uint64_t dtrace_subr_speculation(struct dtrace_context *);
uint64_t dtrace_subr_progenyof(struct dtrace_context *);
uint64_t dtrace_subr_pidname(struct dtrace_context *);
uint64_t dtrace_subr_lwpinfo(struct dtrace_context *);
uint64_t dtrace_subr_swap16(struct dtrace_context *);
uint64_t dtrace_subr_swap32(struct dtrace_context *);
uint64_t dtrace_subr_swap64(struct dtrace_context *);
uint64_t dtrace_subr_lltostr(struct dtrace_context *);
/* subr_string.c */
uint64_t dtrace_subr_strlen(struct dtrace_context *);
uint64_t dtrace_subr_strjoin(struct dtrace_context *);
uint64_t dtrace_subr_substr(struct dtrace_context *);
uint64_t dtrace_subr_toupper(struct dtrace_context *);
uint64_t dtrace_subr_tolower(struct dtrace_context *);
uint64_t dtrace_subr_strtok(struct dtrace_context *);
/* subr_search.c */
uint64_t dtrace_subr_strchr(struct dtrace_context *);
uint64_t dtrace_subr_strrchr(struct dtrace_context *);
uint64_t dtrace_subr_strstr(struct dtrace_context *);
uint64_t dtrace_subr_index(struct dtrace_context *);
uint64_t dtrace_subr_rindex(struct dtrace_context *);
/* subr_path.c */
uint64_t dtrace_subr_basename(struct dtrace_context *);
uint64_t dtrace_subr_dirname(struct dtrace_context *);
uint64_t dtrace_subr_cleanpath(struct dtrace_context *);
/* json.c, strtoll.c, inet.c */
uint64_t dtrace_subr_json(struct dtrace_context *);
uint64_t dtrace_subr_strtoll(struct dtrace_context *);
uint64_t dtrace_subr_inet_ntop(struct dtrace_context *);
uint64_t dtrace_subr_inet_ntoa(struct dtrace_context *);
uint64_t dtrace_subr_inet_ntoa6(struct dtrace_context *);

#endif

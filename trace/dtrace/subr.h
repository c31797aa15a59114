/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subroutines: each finds its arguments in the context's keys, at least as many as its table entry
 * requires, and returns its result, which is ignored after a fault. They are specified by the
 * description of the D language. Probe context.
 */
#ifndef TRACE_DTRACE_SUBR_H
#define TRACE_DTRACE_SUBR_H

#include "trace/assert.h"
#include "trace/dtrace/text.h"

enum { DTRACE_COPYOUT_MOST = 64 * 1024 }; /* most bytes that copyout() and copyoutstr() copy */

/* The available subroutines. A makefile chooses subr_extra.c: all of them; or subr_none.c: a board
 * without json.c, strtoll.c, inet.c, subr_path.c, subr_search.c and destructive.c. */
extern uint64_t (*const dtrace_subrs[])(struct dtrace_context *); /* up to NULL */
/* For each, in the same order: its number; the least number of its arguments. */
extern const uint8_t dtrace_subr_numbers[], dtrace_subr_least[];
#define DTRACE_SUBRS_LEAST(ENTRY) \
    ENTRY(rand, 0, rand) \
    ENTRY(copyin, 2, copyin) \
    ENTRY(copyinstr, 1, copyinstr) \
    ENTRY(speculation, 0, speculation) \
    ENTRY(progenyof, 1, progenyof) \
    ENTRY(pidname, 1, pidname) \
    ENTRY(lwpinfo, 3, lwpinfo) \
    ENTRY(strlen, 1, strlen) \
    ENTRY(alloca, 1, alloca) \
    ENTRY(bcopy, 3, bcopy) \
    ENTRY(copyinto, 3, copyinto) \
    ENTRY(strjoin, 2, strjoin) \
    ENTRY(lltostr, 1, lltostr) \
    ENTRY(strtok, 2, strtok) \
    ENTRY(substr, 2, substr) \
    ENTRY(htons, 1, swap16) \
    ENTRY(htonl, 1, swap32) \
    ENTRY(htonll, 1, swap64) \
    ENTRY(ntohs, 1, swap16) \
    ENTRY(ntohl, 1, swap32) \
    ENTRY(ntohll, 1, swap64) \
    ENTRY(toupper, 1, toupper) ENTRY(tolower, 1, tolower) ENTRY(memref, 2, memref)
#define DTRACE_SUBRS_MORE(ENTRY) \
    ENTRY(copyout, 3, copyout) \
    ENTRY(copyoutstr, 3, copyoutstr) \
    ENTRY(basename, 1, basename) \
    ENTRY(dirname, 1, dirname) \
    ENTRY(cleanpath, 1, cleanpath) \
    ENTRY(strchr, 2, strchr) \
    ENTRY(strrchr, 2, strrchr) \
    ENTRY(strstr, 2, strstr) \
    ENTRY(index, 2, index) \
    ENTRY(rindex, 2, rindex) \
    ENTRY(json, 2, json) \
    ENTRY(strtoll, 1, strtoll) \
    ENTRY(inet_ntop, 2, inet_ntop) ENTRY(inet_ntoa, 1, inet_ntoa) ENTRY(inet_ntoa6, 1, inet_ntoa6)
#define DTRACE_SUBR_RUN(name, least, function) dtrace_subr_##function,
#define DTRACE_SUBR_NUMBER(name, least, function) DIF_SUBR_##name,
#define DTRACE_SUBR_LEAST(name, least, function) least,
#define DTRACE_SUBR_TABLES(SUBRS) \
    uint64_t (*const dtrace_subrs[])(struct dtrace_context *) = {SUBRS(DTRACE_SUBR_RUN) NULL}; \
    const uint8_t dtrace_subr_numbers[] = {SUBRS(DTRACE_SUBR_NUMBER)}; \
    const uint8_t dtrace_subr_least[] = {SUBRS(DTRACE_SUBR_LEAST)};

/* Returns an argument that the table entry requires. */
static inline uint64_t dtrace_arg(const struct dtrace_context *c, unsigned n)
{
    trace_assert(n < c->nkeys);
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

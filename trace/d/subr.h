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
    uint64_t (*run)(struct d_context *); /* NULL: behind the last */
    uint8_t number, least;               /* of the subroutine; of arguments */
};

/* Those that there are. A makefile takes subr_extra.c: all of them; or subr_none.c: a board does
 * without json.c, strtoll.c, inet.c, subr_path.c, subr_search.c and destructive.c. */
extern const struct d_subr d_subrs[];
#define D_SUBRS_LEAST(ROW) \
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
#define D_SUBRS_MORE(ROW) \
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
#define D_SUBR_ROW(name, least, function) {d_subr_##function, DIF_SUBR_##name, least},

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

/* An illegal operation: 0. */
__attribute__((cold)) uint64_t d_illegal(struct d_context *);

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
uint64_t d_subr_pidname(struct d_context *);
uint64_t d_subr_lwpinfo(struct d_context *);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Identifiers of a D program: variables, functions, actions, aggregations, inlines, enumerators,
 * symbols. Kept in hash tables by scope (session: globals, aggregations, thread-local and
 * clause-local variables). Internal to host/dt.
 */
#ifndef HOST_DT_TREE_IDENT_H
#define HOST_DT_TREE_IDENT_H

#include "host/dt/base/session.h"

enum dt_ident_kind {
    DT_IDENT_SCALAR,   /* a variable */
    DT_IDENT_ARRAY,    /* an associative array, or a built-in one (args, regs) */
    DT_IDENT_FUNCTION, /* a subroutine of DIF: number is enum dif_subr */
    DT_IDENT_ACTION,   /* trace, printf …: number is enum dt_action_name of clause/action.h */
    DT_IDENT_AGGFUNC,  /* count, quantize …: number is enum dtrace_action_kind */
    DT_IDENT_AGG,      /* @name: number from 1 */
    DT_IDENT_INLINE,   /* `inline` of the program or a library */
    DT_IDENT_ENUMERATOR,
    DT_IDENT_SYMBOL, /* object`name: number is its address */
    DT_IDENT_XLATOR, /* the translator's input name inside it, and xlate results */
};

enum dt_ident_flags {
    DT_IDENT_LOCAL = 1,   /* this-> */
    DT_IDENT_THREAD = 2,  /* self-> */
    DT_IDENT_WRITE = 4,   /* may be assigned */
    DT_IDENT_BUILTIN = 8, /* the machine's: number is enum dif_var */
    DT_IDENT_USED = 16,
    DT_IDENT_DECLARED = 32, /* by a declaration, not by its first assignment */
    DT_IDENT_ASSIGNED = 64,
    DT_IDENT_TARGET = 128, /* INLINE: names $target, which is several processes */
};

struct dt_signature { /* parameters of a function or the keys of an associative array */
    const struct dt_type *result;
    const struct dt_type *const *args; /* DT_BASIC_DYNAMIC: anything */
    unsigned nargs, optional;          /* the last `optional` may be left out */
    bool fixed;                        /* false: not yet known (array before its first use) */
};

struct dt_node;

struct dt_ident {
    const char *name;
    enum dt_ident_kind kind;
    unsigned flags;
    uint32_t number;            /* by kind; a variable's id in DIF */
    const struct dt_type *type; /* NULL: not yet known */
    struct dt_signature signature;
    struct dt_attributes_short attributes;
    const char *lacks;           /* BUILTIN: why the target doesn't have it; NULL: it does */
    unsigned version;            /* D version since which it exists: major << 8 | minor */
    struct dt_node *inline_body; /* INLINE */
    struct dt_ident **inline_parameters;
    unsigned ninline_parameters;
    int64_t value;                           /* ENUMERATOR */
    uint64_t address;                        /* SYMBOL */
    struct dt_aggregation_info *aggregation; /* AGG */
    struct dt_ident *next;                   /* in its hash chain */
};

struct dt_identhash;
struct dt_identhash *dt_identhash_new(struct dt_session *);
struct dt_ident *dt_ident_lookup(const struct dt_identhash *, const char *name);
void dt_ident_each(const struct dt_identhash *, void (*fn)(void *arg, const struct dt_ident *),
                   void *arg);
struct dt_ident *dt_ident_add(struct dt_session *, struct dt_identhash *, const char *name,
                              enum dt_ident_kind);
/* A later identifier of the same name hides the earlier. */
void dt_ident_insert(struct dt_session *, struct dt_identhash *, struct dt_ident *);
/* Gives the identifier the attributes or the version that the pragma states. */
void dt_ident_give(struct dt_ident *, const struct dt_pending_pragma *);
/* Returns a fresh number for a D variable: DIF_VAR_OTHER_USER and up. Fails if there is none. */
uint32_t dt_variable_number(struct dt_session *, struct dt_location);

#endif

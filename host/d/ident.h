/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a name in a D program stands for: variables, functions, actions, aggregations, inlines,
 * enumerators, symbols. Kept in hash tables by scope (session: globals, aggregations, thread-local
 * and clause-local variables). Internal to host/d.
 */
#ifndef HOST_D_IDENT_H
#define HOST_D_IDENT_H

#include "host/d/d.h"

enum d_ident_kind {
    D_IDENT_SCALAR,   /* a variable */
    D_IDENT_ARRAY,    /* an associative array, or a built-in one (args, regs) */
    D_IDENT_FUNCTION, /* a subroutine of DIF: number is enum dif_subr */
    D_IDENT_ACTION,   /* trace, printf …: number is enum d_action_name of action.c */
    D_IDENT_AGGFUNC,  /* count, quantize …: number is enum d_action_kind */
    D_IDENT_AGG,      /* @name: number from 1 */
    D_IDENT_INLINE,   /* `inline` of the program or a library */
    D_IDENT_ENUMERATOR,
    D_IDENT_SYMBOL, /* object`name: number is its address */
    D_IDENT_XLATOR, /* the translator's input name inside it, and xlate results */
};

enum d_ident_flags {
    D_IDENT_LOCAL = 1,   /* this-> */
    D_IDENT_THREAD = 2,  /* self-> */
    D_IDENT_WRITE = 4,   /* may be assigned */
    D_IDENT_BUILTIN = 8, /* the machine's: number is enum dif_var */
    D_IDENT_USED = 16,
    D_IDENT_DECLARED = 32, /* by a declaration, not by its first assignment */
    D_IDENT_ASSIGNED = 64,
};

struct d_signature { /* parameters of a function or the keys of an associative array */
    const struct d_type *result;
    const struct d_type *const *args; /* D_BASIC_DYNAMIC: anything */
    unsigned nargs, optional;         /* the last `optional` may be left out */
    bool fixed;                       /* false: not yet known (array before its first use) */
};

struct d_node;

struct d_ident {
    const char *name;
    enum d_ident_kind kind;
    unsigned flags;
    uint32_t number;           /* by kind; a variable's id in DIF */
    const struct d_type *type; /* NULL: not yet known */
    struct d_signature signature;
    struct d_attributes_short { /* stability as D programs state it */
        uint8_t name, data, class;
    } attributes;
    unsigned version;           /* D version since which it exists: major << 8 | minor */
    struct d_node *inline_body; /* INLINE */
    struct d_ident **inline_parameters;
    unsigned ninline_parameters;
    int64_t value;                          /* ENUMERATOR */
    uint64_t address;                       /* SYMBOL */
    struct d_aggregation_info *aggregation; /* AGG */
    struct d_ident *next;                   /* in its hash chain */
};

struct d_identhash;
struct d_identhash *d_identhash_new(struct d_session *);
struct d_ident *d_ident_lookup(const struct d_identhash *, const char *name);
void d_ident_each(const struct d_identhash *, void (*fn)(void *arg, const struct d_ident *),
                  void *arg);
struct d_ident *d_ident_add(struct d_session *, struct d_identhash *, const char *name,
                            enum d_ident_kind);

#endif

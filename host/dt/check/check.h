/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checking: every node of a tree gets its type and meaning; constants are folded, inlines and
 * translators expanded. Internal to host/dt.
 */
#ifndef HOST_DT_CHECK_CHECK_H
#define HOST_DT_CHECK_CHECK_H

#include "host/dt/check/program.h"
#include "host/dt/check/wording.h"
#include "host/dt/tree/ast.h"

/* Checks an expression and gives every node its type. Also integer constant expressions of
 * declarations (array sizes, enumerators, bit-field widths). Returns the expression's type. */
const struct dt_type *dt_check_expression(struct dt_session *, struct dt_node *);
/* The parser calls this as soon as it has read a translator. */
void dt_translator_check(struct dt_session *, struct dt_translator *);
/* The parser calls this for each `inline`, after it made ident (kind INLINE, inline_body,
 * inline_parameters with their types). */
void dt_inline_check(struct dt_session *, struct dt_ident *);

const struct dt_type *dt_promote(struct dt_session *, const struct dt_type *);
const struct dt_type *dt_usual(struct dt_session *, const struct dt_type *, const struct dt_type *);
bool dt_node_is_string(const struct dt_node *);
bool dt_node_is_null(const struct dt_node *); /* the integer constant 0 */
/* A value of `from` can be assigned or passed where `to` is wanted. */
bool dt_compatible(const struct dt_node *from, const struct dt_type *to);
void dt_check_binary(struct dt_session *, struct dt_node *);
void dt_check_unary(struct dt_session *, struct dt_node *);
bool dt_operator_compares(int op); /* == != < <= > >= */
void dt_check_assign(struct dt_session *, struct dt_node *);
/* A variable, or an associative array's element, that nobody has assigned yet becomes
 * an int64_t. */
void dt_declare_number(struct dt_session *, struct dt_node *);
/* An array's keys: types known from here on if they were not. */
void dt_check_keys(struct dt_session *, struct dt_node *index, struct dt_ident *);
void dt_check_name(struct dt_session *, struct dt_node *);
void dt_check_member(struct dt_session *, struct dt_node *);
void dt_check_index(struct dt_session *, struct dt_node *);
void dt_check_call(struct dt_session *, struct dt_node *);
void dt_check_size(struct dt_session *, struct dt_node *); /* sizeof, offsetof, stringof */
void dt_fold(struct dt_session *, struct dt_node *);
int64_t dt_normalize(const struct dt_type *, uint64_t); /* as a register holds such a value */
/* width.c. The register's value is one of the node's type; and one of `to` with the same bits. */
bool dt_node_is_exact(const struct dt_node *);
bool dt_node_fits(const struct dt_node *, const struct dt_type *to);
/* The type in which a value is recorded: its own, or 64 bits for products and left shifts; and the
 * (checked) node in that type, with the same `next`. */
const struct dt_type *dt_recorded_type(struct dt_session *, const struct dt_node *);
struct dt_node *dt_recorded(struct dt_session *, struct dt_node *);
/* Arguments, or keys, against a signature. what: the name of what has them, for the message. */
void dt_check_arguments(struct dt_session *, const struct dt_node *call, struct dt_node *args,
                        const struct dt_signature *, const char *what, enum dt_arg_kind);

/* ---- names ------------------------------------------------------------------------- */

/* The variable's id of a name in a scope, looked up or NULL. */
struct dt_ident *dt_variable_lookup(struct dt_session *, const char *scope, const char *name);
void dt_use(struct dt_session *, const struct dt_ident *); /* stability */

/* A symbol of an ELF (object may be NULL or ""), or one that the program declared. False:
 * unknown. */
bool dt_symbol_lookup(struct dt_session *, const char *object, const char *name, uint64_t *address,
                      const struct dt_type **type);
/* The aggregation of a node that uses it. Fails if the program has not assigned it yet. */
struct dt_ident *dt_agg_lookup(struct dt_session *, const struct dt_node *);

/* ---- inlines and translators (expand.c) ---------------------------------------------- */

void dt_inline_expand(struct dt_session *, struct dt_node *, struct dt_ident *,
                      struct dt_node *args);
void dt_xlate_check(struct dt_session *, struct dt_node *);
/* `.m` or `->m` of a translation: becomes the member's expression. */
void dt_xlate_member(struct dt_session *, struct dt_node *);
/* A (checked) XLATE to this type, a pointer, of a probe's words: a pid, and a tid or NULL; both
 * NULL: of what runs. Fails if there is no translator. */
struct dt_node *dt_xlate_argument(struct dt_session *, struct dt_place, const struct dt_type *,
                                  struct dt_node *const words[2]);
/* The (checked) value of a member of a checked XLATE; NULL: the translator leaves it 0. */
struct dt_node *dt_xlate_value(struct dt_session *, const struct dt_node *xlate,
                               const struct dt_member *);

/* ---- arguments of probes (argument.c) ---------------------------------------------- */

enum { DT_ARGUMENT_FROM = 2 };
struct dt_argument { /* args[n] of a probe */
    const struct dt_type *type;
    bool translated; /* type is a pointer to a struct, which a translator makes */
    unsigned nfrom;  /* of how many of the probe's arguments; 1 if it isn't translated */
    unsigned from[DT_ARGUMENT_FROM]; /* their numbers */
};
/* False: the probe has no args[n], or its type isn't known. */
bool dt_argument_of(struct dt_session *, const struct dt_probe_info *, unsigned n,
                    struct dt_argument *);
/* Whether args[n] is the same of both probes. */
bool dt_arguments_agree(struct dt_session *, const struct dt_probe_info *,
                        const struct dt_probe_info *, unsigned n);

#endif

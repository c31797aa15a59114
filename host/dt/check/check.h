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

/* ---- expressions ------------------------------------------------------------------- */

/* Checks an expression, gives every node its type, and returns the expression's. The parser calls
 * it for constant expressions of declarations (array sizes, enumerators, bit-field widths), too. */
const struct dt_type *dt_check_expression(struct dt_session *, struct dt_node *);
/* Checks a translator. The parser calls it as soon as it has read one. */
void dt_translator_check(struct dt_session *, struct dt_translator *);
/* Checks the definition of an `inline`. The parser calls it after it made ident (kind INLINE,
 * inline_body, inline_parameters with their types). */
void dt_inline_check(struct dt_session *, struct dt_ident *);

/* Returns the type after C's integer promotion; and that of two operands after C's usual arithmetic
 * conversions. */
const struct dt_type *dt_promote(struct dt_session *, const struct dt_type *);
const struct dt_type *dt_usual(struct dt_session *, const struct dt_type *, const struct dt_type *);
bool dt_node_is_string(const struct dt_node *);
bool dt_node_is_null(const struct dt_node *); /* the integer constant 0 */
/* True if the value of `from` can be assigned or passed where `to` is expected. */
bool dt_compatible(const struct dt_node *from, const struct dt_type *to);
void dt_check_binary(struct dt_session *, struct dt_node *);
void dt_check_unary(struct dt_session *, struct dt_node *);
bool dt_operator_compares(int op); /* == != < <= > >= */
void dt_check_assign(struct dt_session *, struct dt_node *);
/* Gives a variable, or an associative array's element, the type int64_t if nothing has been
 * assigned to it yet. */
void dt_declare_number(struct dt_session *, struct dt_node *);
/* Checks an associative array's keys. Its first use fixes their types. */
void dt_check_keys(struct dt_session *, struct dt_node *index, struct dt_ident *);
void dt_check_name(struct dt_session *, struct dt_node *);
void dt_check_member(struct dt_session *, struct dt_node *);
void dt_check_index(struct dt_session *, struct dt_node *);
void dt_check_call(struct dt_session *, struct dt_node *);
void dt_check_size(struct dt_session *, struct dt_node *); /* sizeof, offsetof, stringof */
void dt_fold(struct dt_session *, struct dt_node *);
/* Returns the value as a register holds a value of that type. */
int64_t dt_normalize(const struct dt_type *, uint64_t);
/* width.c. True if the register's value is a value of the node's type. */
bool dt_node_is_exact(const struct dt_node *);
/* True if it is a value of `to`, too, with the same bits in the register. */
bool dt_node_fits(const struct dt_node *, const struct dt_type *to);
/* Returns the type in which a value is recorded: its own, or one of 64 bits for products and left
 * shifts. */
const struct dt_type *dt_recorded_type(struct dt_session *, const struct dt_node *);
/* Returns the (checked) node in that type, with the same `next`. */
struct dt_node *dt_recorded(struct dt_session *, struct dt_node *);
/* Checks arguments or keys against a signature. what: the name of the function or the array, for
 * the message. */
void dt_check_arguments(struct dt_session *, const struct dt_node *call, struct dt_node *args,
                        const struct dt_signature *, const char *what, enum dt_arg_kind);

/* ---- names ------------------------------------------------------------------------- */

/* Returns the identifier of a name in a scope (NULL, "self", "this"); NULL: unknown. */
struct dt_ident *dt_variable_lookup(struct dt_session *, const char *scope, const char *name);
/* Notes that the clause uses the identifier: its stability counts. */
void dt_use(struct dt_session *, const struct dt_ident *);

/* Looks up a symbol of an ELF (object may be NULL or ""), or one that the program declared. False:
 * unknown. */
bool dt_symbol_lookup(struct dt_session *, const char *object, const char *name, uint64_t *address,
                      const struct dt_type **type);
/* Returns the aggregation that a node uses. Fails if the program has not assigned it yet. */
struct dt_ident *dt_agg_lookup(struct dt_session *, const struct dt_node *);

/* ---- inlines and translators (expand.c) ---------------------------------------------- */

void dt_inline_expand(struct dt_session *, struct dt_node *, struct dt_ident *,
                      struct dt_node *args);
void dt_xlate_check(struct dt_session *, struct dt_node *);
/* Turns `.m` or `->m` of a translation into the member's expression. */
void dt_xlate_member(struct dt_session *, struct dt_node *);
/* Returns a (checked) XLATE to this type, a pointer, from arguments of a probe: a pid, and a tid or
 * NULL; both NULL: of the current thread. Fails if there is no translator. */
struct dt_node *dt_xlate_argument(struct dt_session *, struct dt_location, const struct dt_type *,
                                  struct dt_node *const words[2]);
/* Returns the (checked) value of a member of a checked XLATE; NULL: the translator leaves it 0. */
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
/* Finds the type of the probe's args[n]. False: there is none, or it isn't known. */
bool dt_argument_of(struct dt_session *, const struct dt_probe_info *, unsigned n,
                    struct dt_argument *);
/* True if args[n] is the same of both probes. */
bool dt_arguments_agree(struct dt_session *, const struct dt_probe_info *,
                        const struct dt_probe_info *, unsigned n);

#endif

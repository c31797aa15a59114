/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiler's back end, inside: checking trees, folding, generating DIF, and the program under
 * construction. Internal to host/d's back end; internal.h is what both ends share.
 */
#ifndef HOST_D_BACK_H
#define HOST_D_BACK_H

#include "host/d/internal.h"
#include "trace/d/image.h"

/* ---- the back end's state ----------------------------------------------------------------------
 */

struct d_back {
    struct d_array formats;      /* struct d_format */
    struct d_array datum_types;  /* const struct d_type * */
    struct d_array aggregations; /* struct d_aggregation_info * */
    struct d_array clauses;      /* struct d_clause_info */
    struct d_clause *clause;     /* the one that is compiled now; NULL: none */
    unsigned depth;              /* of inlines and translators being expanded */
    unsigned expansions;         /* of them so far */
    unsigned conditions;         /* hidden variables made for `if` */
};

/* One object with what -S says of it. */
struct d_made_object {
    struct dif_object dif;
    const struct d_type *result;
    const struct d_type *const *var_types; /* of dif.vars */
};

struct d_made_action {
    struct d_image_action image; /* object and weight: numbers in the program's objects, + 1 */
};

struct d_made_ecb {
    const char *provider, *module, *function, *name;
    uint32_t probe, predicate, first_action, nactions, clause, flags;
};

struct d_program {
    struct d_session *session;
    struct d_array objects; /* struct d_made_object */
    struct d_array actions; /* struct d_made_action */
    struct d_array ecbs;    /* struct d_made_ecb */
    unsigned matched;       /* clauses times probes */
    const char *text;       /* that was compiled */
    size_t text_size;
};

struct d_probe_kind {
    struct d_probe_info probe;
    struct d_probe_kind *next;
};

/* The clause that is compiled: what has happened in it so far. */
struct d_clause {
    struct d_program *program;
    struct d_node *probes;
    uint32_t number;                  /* of the clause */
    const struct d_probe_info *probe; /* the first one that matches; NULL: none */
    bool many_kinds;                  /* others that match have another function or name */
    struct d_probe_kind *kinds;       /* one of each provider and name that match */
    bool records, speculates, commits, aggregates, exits, destructive;
    struct d_attributes_short attributes; /* the least of all used */
    struct d_attributes probe_attributes;
};

/* ---- checking (check*.c) -----------------------------------------------------------------------
 */

const struct d_type *d_promote(struct d_session *, const struct d_type *);
const struct d_type *d_usual(struct d_session *, const struct d_type *, const struct d_type *);
bool d_node_is_string(const struct d_node *);
bool d_node_is_null(const struct d_node *); /* the integer constant 0 */
/* A value of `from` can be assigned or passed where `to` is wanted. */
bool d_compatible(const struct d_node *from, const struct d_type *to);
void d_set_type(struct d_node *, const struct d_type *);
void d_check_binary(struct d_session *, struct d_node *);
void d_check_unary(struct d_session *, struct d_node *);
const char *d_operator_text(int op);
bool d_operator_compares(int op); /* == != < <= > >= */
/* -x tree; pass: 0 as read, 1 as checked. */
void d_tree_show(struct d_session *, const struct d_node *clause, unsigned pass);
void d_check_assign(struct d_session *, struct d_node *);
/* A variable, or an associative array's element, that nobody has assigned yet becomes an int64_t.
 */
void d_declare_number(struct d_session *, struct d_node *);
/* An array's keys: types known from here on if they were not. */
void d_check_keys(struct d_session *, struct d_node *index, struct d_ident *);
void d_check_name(struct d_session *, struct d_node *);
void d_check_member(struct d_session *, struct d_node *);
void d_check_index(struct d_session *, struct d_node *);
void d_check_call(struct d_session *, struct d_node *);
void d_check_size(struct d_session *, struct d_node *); /* sizeof, offsetof, stringof */
void d_fold(struct d_session *, struct d_node *);
int64_t d_normalize(const struct d_type *, uint64_t); /* as a register holds such a value */
/* width.c. The register's value is one of the node's type; and one of `to` with the same bits. */
bool d_node_is_exact(const struct d_node *);
bool d_node_fits(const struct d_node *, const struct d_type *to);
/* The type in which a value is recorded: its own, or 64 bits for products and left shifts; and the
 * (checked) node in that type, with the same `next`. */
const struct d_type *d_recorded_type(struct d_session *, const struct d_node *);
struct d_node *d_recorded(struct d_session *, struct d_node *);
/* Arguments, or keys, against a signature. what: the name of what has them, for the message. */
enum d_arg_kind { D_ARG_CALL, D_ARG_KEY };
void d_check_arguments(struct d_session *, const struct d_node *call, struct d_node *args,
                       const struct d_signature *, const char *what, enum d_arg_kind);

/* ---- wording.c: parts of messages, in dtrace(1M)'s words ---------------------------------------
 */

/* The type of a checked node's value. */
const char *d_value_text(struct d_session *, const struct d_node *);
/* "prototype mismatch: 1 arg passed, 2 expected". unit: "arg" or "key". */
const char *d_mismatch_text(struct d_session *, unsigned given, const char *unit, unsigned least,
                            unsigned most);
/* "index( )" or "array[ ]". */
const char *d_what_text(struct d_session *, const char *what, enum d_arg_kind);
/* "count", of a d_aggregating_function. */
const char *d_agg_name(uint32_t function);
/* An action or an aggregating function stands where a value is wanted. */
_Noreturn void d_fail_context(struct d_session *, const struct d_node *call, struct d_place);

unsigned d_list_length(const struct d_node *);
/* The variable's id of a name in a scope, looked up or NULL. */
struct d_ident *d_variable_lookup(struct d_session *, const char *scope, const char *name);
void d_use(struct d_session *, const struct d_ident *); /* stability */

/* A deep copy, in which the name is replaced by copies of `with` (NULL: nothing is replaced). */
struct d_node *d_copy(struct d_session *, const struct d_node *, const char *name,
                      const struct d_node *with);
struct d_node *d_copy_list(struct d_session *, const struct d_node *, const char *name,
                           const struct d_node *with);
struct d_node *d_node_int(struct d_session *, struct d_place, int64_t, const struct d_type *);
struct d_node *d_node_cast(struct d_session *, struct d_node *, const struct d_type *);
/* Turns the node into another one, in place. */
void d_become(struct d_node *, const struct d_node *);

void d_inline_expand(struct d_session *, struct d_node *, struct d_ident *, struct d_node *args);
void d_xlate_check(struct d_session *, struct d_node *);
/* `.m` or `->m` of a translation: becomes the member's expression. */
void d_xlate_member(struct d_session *, struct d_node *);
/* A (checked) XLATE to this type, a pointer, of a probe's words: a pid, and a tid or NULL; both
 * NULL: of what runs. Fails if there is no translator. */
struct d_node *d_xlate_argument(struct d_session *, struct d_place, const struct d_type *,
                                struct d_node *const words[2]);
/* The (checked) value of a member of a checked XLATE; NULL: the translator leaves it 0. */
struct d_node *d_xlate_value(struct d_session *, const struct d_node *xlate,
                             const struct d_member *);

/* ---- generating (codegen*.c, code.c) -----------------------------------------------------------
 */

struct d_code;
/* The object that computes the (checked) expression. discard: its value isn't wanted. Returns the
 * number + 1 of the object in the program. */
uint32_t d_object_make(struct d_session *, struct d_program *, struct d_node *, bool discard);

/* ---- statements, actions, aggregations ---------------------------------------------------------
 */

void d_statement(struct d_session *, struct d_clause *, struct d_node *);
void d_action_call(struct d_session *, struct d_clause *, struct d_node *call);
void d_aggregate(struct d_session *, struct d_clause *, struct d_node *agg, struct d_node *call);
struct d_image_action *d_action_add(struct d_session *, struct d_clause *, uint16_t kind);
/* Records a checked value, as trace() does. */
void d_action_datum(struct d_session *, struct d_clause *, struct d_node *, uint32_t format);
/* stack(), sym() and the like as an action or an aggregation's key: false if it is none of them. */
bool d_action_place(struct d_session *, struct d_clause *, struct d_node *call, uint32_t format);
bool d_is_place_call(const struct d_node *);
/* Its type as a key: a stack, or an address that prints as a symbol. */
const struct d_type *d_place_type(struct d_session *, const struct d_node *call);
void d_aggregate_check(struct d_session *, struct d_clause *, const struct d_place *);
struct d_ident *d_agg_lookup(struct d_session *, const struct d_node *);
_Noreturn void d_agg_fail(struct d_session *, const struct d_node *call, const char *tag,
                          const char *what);
/* aggregation_shape.c: a distribution's shape as its action's arg; fails unless it is the first
 * use's. */
uint64_t d_agg_shape(struct d_session *, const struct d_node *call);
void d_agg_match_shape(struct d_session *, const struct d_node *call, uint64_t first,
                       uint64_t shape);
void d_record_check(struct d_session *, struct d_clause *, struct d_place);
/* printf's arguments against its format. */
void d_printf_check(struct d_session *, const struct d_node *call, struct d_printf *,
                    struct d_node *args);
/* The keys of the (first) aggregation against printa's format: their types. There may be fewer than
 * the format asks for, or more. */
void d_printa_check(struct d_session *, const struct d_node *call, const struct d_printf *,
                    const struct d_aggregation_info *);
/* Fails as the call would by itself, if it is wrong; else returns. Nothing it makes is kept. */
void d_action_try(struct d_session *, struct d_node *call);

#endif

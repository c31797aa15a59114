/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiler's back end, inside: checking trees, folding, generating DIF, and the program under
 * construction. Internal to host/dt's back end; internal.h is what both ends share.
 */
#ifndef HOST_DT_BACK_H
#define HOST_DT_BACK_H

#include "host/dt/internal.h"
#include "trace/dtrace/image.h"

/* ---- the back end's state ---------------------------------------------------------- */

struct dt_back {
    struct dt_array formats;      /* struct dt_format */
    struct dt_array datum_types;  /* const struct dt_type * */
    struct dt_array aggregations; /* struct dt_aggregation_info * */
    struct dt_array clauses;      /* struct dt_clause_info */
    struct dt_clause *clause;     /* the one that is compiled now; NULL: none */
    unsigned depth;               /* of inlines and translators being expanded */
    unsigned expansions;          /* of them so far */
    unsigned conditions;          /* hidden variables made for `if` */
};

/* An object, with its description for -S. */
struct dt_made_object {
    struct dif_object dif;
    const struct dt_type *result;
    const struct dt_type *const *var_types; /* of dif.vars */
};

struct dt_made_action {
    struct dtrace_image_action image; /* object and weight: numbers in the program's objects, + 1 */
};

struct dt_made_ecb {
    const char *provider, *module, *function, *name;
    uint32_t probe, predicate, first_action, nactions, clause, flags;
};

struct dt_program {
    struct dt_session *session;
    struct dt_array objects; /* struct dt_made_object */
    struct dt_array actions; /* struct dt_made_action */
    struct dt_array ecbs;    /* struct dt_made_ecb */
    unsigned matched;        /* clauses times probes */
    const char *text;        /* that was compiled */
    size_t text_size;
};

struct dt_probe_kind {
    struct dt_probe_info probe;
    struct dt_probe_kind *next;
};

/* The clause that is compiled: what has happened in it so far. */
struct dt_clause {
    struct dt_program *program;
    struct dt_node *probes;
    uint32_t number;                   /* of the clause */
    const struct dt_probe_info *probe; /* the first one that matches; NULL: none */
    bool many_kinds;                   /* others that match have another function or name */
    struct dt_probe_kind *kinds;       /* one of each provider and name that match */
    bool records, speculates, commits, aggregates, exits, destructive;
    struct dt_attributes_short attributes; /* the least of all used */
    struct dtrace_attributes probe_attributes;
};

/* ---- checking (check*.c) ----------------------------------------------------------- */

const struct dt_type *dt_promote(struct dt_session *, const struct dt_type *);
const struct dt_type *dt_usual(struct dt_session *, const struct dt_type *, const struct dt_type *);
bool dt_node_is_string(const struct dt_node *);
bool dt_node_is_null(const struct dt_node *); /* the integer constant 0 */
/* A value of `from` can be assigned or passed where `to` is wanted. */
bool dt_compatible(const struct dt_node *from, const struct dt_type *to);
void dt_set_type(struct dt_node *, const struct dt_type *);
void dt_check_binary(struct dt_session *, struct dt_node *);
void dt_check_unary(struct dt_session *, struct dt_node *);
const char *dt_operator_text(int op);
bool dt_operator_compares(int op); /* == != < <= > >= */
/* -x tree; pass: 0 as read, 1 as checked. */
void dt_tree_show(struct dt_session *, const struct dt_node *clause, unsigned pass);
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
enum dt_arg_kind { DT_ARG_CALL, DT_ARG_KEY };
void dt_check_arguments(struct dt_session *, const struct dt_node *call, struct dt_node *args,
                        const struct dt_signature *, const char *what, enum dt_arg_kind);

/* ---- wording.c: parts of messages, in dtrace(1M)'s words --------------------------- */

/* The type of a checked node's value. */
const char *dt_value_text(struct dt_session *, const struct dt_node *);
/* "prototype mismatch: 1 arg passed, 2 expected". unit: "arg" or "key". */
const char *dt_mismatch_text(struct dt_session *, unsigned given, const char *unit, unsigned least,
                             unsigned most);
/* "index( )" or "array[ ]". */
const char *dt_what_text(struct dt_session *, const char *what, enum dt_arg_kind);
/* "count", of a dt_aggregating_function. */
const char *dt_agg_name(uint32_t function);
/* An action or an aggregating function stands where a value is wanted. */
_Noreturn void dt_fail_context(struct dt_session *, const struct dt_node *call, struct dt_place);

unsigned dt_list_length(const struct dt_node *);
/* The variable's id of a name in a scope, looked up or NULL. */
struct dt_ident *dt_variable_lookup(struct dt_session *, const char *scope, const char *name);
void dt_use(struct dt_session *, const struct dt_ident *); /* stability */

/* A deep copy, in which the name is replaced by copies of `with` (NULL: nothing is replaced). */
struct dt_node *dt_copy(struct dt_session *, const struct dt_node *, const char *name,
                        const struct dt_node *with);
struct dt_node *dt_copy_list(struct dt_session *, const struct dt_node *, const char *name,
                             const struct dt_node *with);
struct dt_node *dt_node_int(struct dt_session *, struct dt_place, int64_t, const struct dt_type *);
struct dt_node *dt_node_cast(struct dt_session *, struct dt_node *, const struct dt_type *);
/* Turns the node into another one, in place. */
void dt_become(struct dt_node *, const struct dt_node *);

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

/* ---- generating (codegen*.c, code.c) ----------------------------------------------- */

struct dt_code;
/* The object that computes the (checked) expression. discard: its value isn't wanted. Returns the
 * number + 1 of the object in the program. */
uint32_t dt_object_make(struct dt_session *, struct dt_program *, struct dt_node *, bool discard);

/* ---- statements, actions, aggregations --------------------------------------------- */

void dt_statement(struct dt_session *, struct dt_clause *, struct dt_node *);
void dt_action_call(struct dt_session *, struct dt_clause *, struct dt_node *call);
void dt_aggregate(struct dt_session *, struct dt_clause *, struct dt_node *agg,
                  struct dt_node *call);
struct dtrace_image_action *dt_action_add(struct dt_session *, struct dt_clause *, uint16_t kind);
/* Records a checked value, as trace() does. */
void dt_action_datum(struct dt_session *, struct dt_clause *, struct dt_node *, uint32_t format);
/* stack(), sym() and the like as an action or an aggregation's key: false if it is none of them. */
bool dt_action_place(struct dt_session *, struct dt_clause *, struct dt_node *call,
                     uint32_t format);
bool dt_is_place_call(const struct dt_node *);
/* Its type as a key: a stack, or an address that prints as a symbol. */
const struct dt_type *dt_place_type(struct dt_session *, const struct dt_node *call);
struct dt_ident *dt_agg_lookup(struct dt_session *, const struct dt_node *);
_Noreturn void dt_agg_fail(struct dt_session *, const struct dt_node *call, const char *tag,
                           const char *what);
/* aggregation_shape.c: a distribution's shape as its action's arg; fails unless it is the first
 * use's. */
uint64_t dt_agg_shape(struct dt_session *, const struct dt_node *call);
void dt_agg_match_shape(struct dt_session *, const struct dt_node *call, uint64_t first,
                        uint64_t shape);
/* printf's arguments against its format. */
void dt_printf_check(struct dt_session *, const struct dt_node *call, struct dt_printf *,
                     struct dt_node *args);
/* The keys of the (first) aggregation against printa's format: their types. There may be fewer than
 * the format asks for, or more. */
void dt_printa_check(struct dt_session *, const struct dt_node *call, const struct dt_printf *,
                     const struct dt_aggregation_info *);
/* Fails as the call would by itself, if it is wrong; else returns. Nothing it makes is kept. */
void dt_action_try(struct dt_session *, struct dt_node *call);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parser: the source that is being parsed, and the functions that the grammar and the lexer
 * share. Internal to host/dt.
 */
#ifndef HOST_DT_SYNTAX_PARSE_H
#define HOST_DT_SYNTAX_PARSE_H

#include "host/dt/syntax/decl.h"
#include "host/dt/tree/ast.h"

struct dt_parse {
    struct dt_session *session;
    const struct dt_source *source;
    struct dt_program *program; /* NULL: a library, which has no clauses */
    struct dt_text *text;
    const char *at;              /* what the lexer has read */
    const char *token;           /* where the last token begins */
    struct dt_location location; /* of `at` */
    void *scanner;

    bool in_item, in_clause, in_predicate; /* where the lexer is */
    unsigned braces, parens, brackets;
    int previous;    /* the token before */
    bool in_heading; /* of a translator: a { there is no struct's body */
    bool after_tag;  /* the token before is a struct's tag: no type name follows */
    const char *description_start, *description_end;
    unsigned items; /* clauses and declarations so far */
    unsigned clauses;

    struct dt_scope *scope; /* of declarations */
    struct dt_array names;  /* const char *: inline parameters, which hide types */
    bool *argument_used;    /* argc of them */
    unsigned targets_named; /* how often $target, of several processes, was read so far */
};

/* lexer.l, grammar.y */
void dt_lexer_start(struct dt_parse *);
int dt_yyparse(struct dt_parse *);
void dt_lexer_advance(struct dt_parse *, const char *text, size_t n);

/* constant.c: tokens to nodes. text is not NUL-terminated. */
struct dt_node *dt_integer_constant(struct dt_parse *, struct dt_location, const char *text,
                                    size_t n);
struct dt_node *dt_character_constant(struct dt_parse *, struct dt_location, const char *text,
                                      size_t n);
struct dt_node *dt_string_constant(struct dt_parse *, struct dt_location, const char *text,
                                   size_t n);
const struct dt_type *dt_constant_type(struct dt_session *, uint64_t value, bool decimal,
                                       bool is_unsigned, unsigned longs);

/* macro.c */
enum dt_macro_kind { DT_MACRO_INTEGER, DT_MACRO_STRING, DT_MACRO_NAME };
/* Sets *text to the value of $name or $n (name: without the $). False: it has none. */
bool dt_macro_value(struct dt_parse *, const char *name, size_t n, const char **text);
enum dt_macro_kind dt_macro_kind(const char *value);
void dt_macros_check_used(struct dt_parse *);

/* target.c. $target of several processes. Compiles the clause: dt_clause_compile() for each of them
 * if it names $target. */
void dt_target_clause(struct dt_parse *, struct dt_node *clause, const char *description);
/* Notes whether the inline names $target. */
void dt_target_of_inline(struct dt_parse *, struct dt_ident *);
/* Fails if the expression, whose value is needed before any clause, names $target. */
void dt_target_refuse(struct dt_parse *, const struct dt_node *);

/* pragma.c: takes a whole # line. */
void dt_directive(struct dt_parse *, struct dt_location, const char *text, size_t n);
/* Sets the options of all pragmas in the text before it is parsed: they count wherever they
 * are. Invalid ones are left to the parser. */
void dt_pragma_options_scan(struct dt_session *, const char *text, size_t n);
void dt_pragmas_check_used(struct dt_parse *);

/* probe.c */
struct dt_node *dt_probe_by_text(struct dt_parse *, struct dt_location, const char *text);
struct dt_node *dt_probe_by_id(struct dt_parse *, struct dt_location, uint64_t id);

/* build.c: what the grammar builds */
struct dt_nodes { /* a list */
    struct dt_node *first, *last;
};
struct dt_node *dt_node_index(struct dt_parse *, struct dt_location, struct dt_node *of,
                              struct dt_node *args);
struct dt_node *dt_node_unary(struct dt_parse *, struct dt_location, int op, struct dt_node *);
struct dt_node *dt_node_binary(struct dt_parse *, struct dt_location, int op, struct dt_node *,
                               struct dt_node *);
struct dt_node *dt_node_with(struct dt_parse *, enum dt_node_kind, struct dt_location,
                             struct dt_node *left);
struct dt_node *dt_node_list(struct dt_parse *, struct dt_node *, struct dt_node *args);
struct dt_node *dt_node_ternary(struct dt_parse *, struct dt_location, struct dt_node *condition,
                                struct dt_node *yes, struct dt_node *no);
struct dt_node *dt_node_xlate(struct dt_parse *, struct dt_location, const struct dt_type *,
                              struct dt_node *);
struct dt_node *dt_node_name(struct dt_parse *, struct dt_location, const char *scope,
                             const char *name);
struct dt_node *dt_node_call(struct dt_parse *, struct dt_location, struct dt_node *function,
                             struct dt_node *args);
struct dt_node *dt_node_if(struct dt_parse *, struct dt_location, struct dt_node *condition,
                           struct dt_node *body, struct dt_node *otherwise);
void dt_clause_end(struct dt_parse *, struct dt_location, struct dt_node *probes,
                   struct dt_node *predicate, struct dt_node *body);

#endif

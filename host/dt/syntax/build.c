/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds syntax trees for the grammar. Limits a tree's depth, because the later layers walk it by
 * recursion.
 */
#include "host/dt/check/suggest.h"
#include "host/dt/clause/clause.h"
#include "host/dt/syntax/parse.h"
#include "trace/dtrace/dif.h"

#include <string.h>

enum { DEPTH_MAX = 1000 };

static void deeper_than(struct dt_node *n, const struct dt_node *inner)
{
    for (; inner; inner = inner->next) {
        n->depth = inner->depth >= n->depth ? inner->depth + 1 : n->depth;
    }
}

static struct dt_node *build_limit_depth(struct dt_parse *p, struct dt_node *n)
{
    if (n->depth > DEPTH_MAX) {
        dt_fail(p->session, n->location, "D_SYNTAX", "the program is nested too deeply");
    }
    return n;
}

struct dt_node *dt_node_with(struct dt_parse *p, enum dt_node_kind kind,
                             struct dt_location location, struct dt_node *left)
{
    struct dt_node *n = dt_node_new(p->session, kind, location);

    n->left = left;
    if (left) {
        n->depth = left->depth + 1;
    }
    return build_limit_depth(p, n);
}

struct dt_node *dt_node_unary(struct dt_parse *p, struct dt_location location, int op,
                              struct dt_node *left)
{
    struct dt_node *n = dt_node_with(p, DT_NODE_UNARY, location, left);

    n->op = op;
    return n;
}

struct dt_node *dt_node_binary(struct dt_parse *p, struct dt_location location, int op,
                               struct dt_node *left, struct dt_node *right)
{
    struct dt_node *n = dt_node_with(p, DT_NODE_BINARY, location, left);

    n->op = op;
    n->right = right;
    deeper_than(n, right);
    return build_limit_depth(p, n);
}

struct dt_node *dt_node_list(struct dt_parse *p, struct dt_node *n, struct dt_node *args)
{
    n->args = args;
    deeper_than(n, args);
    return build_limit_depth(p, n);
}

/* @a[k] is the aggregation with its keys, everything else is indexed. The arguments of an inline be
 * in its body later: both depths count. */
struct dt_node *dt_node_index(struct dt_parse *p, struct dt_location location, struct dt_node *of,
                              struct dt_node *args)
{
    if (of->kind == DT_NODE_AGG && !of->args) {
        return dt_node_list(p, of, args);
    }
    struct dt_node *n = dt_node_binary(p, location, DT_OP_INDEX, of, NULL);
    unsigned body = n->depth;
    dt_node_list(p, n, args);
    n->depth += of->kind == DT_NODE_NAME && of->depth ? body : 0;
    return build_limit_depth(p, n);
}

/* A translator's members stand here later, with `of` in them. */
struct dt_node *dt_node_xlate(struct dt_parse *p, struct dt_location location,
                              const struct dt_type *type, struct dt_node *of)
{
    struct dt_node *n = dt_node_with(p, DT_NODE_XLATE, location, of);

    n->type = type;
    n->depth += p->session->translators_depth;
    return build_limit_depth(p, n);
}

struct dt_node *dt_node_ternary(struct dt_parse *p, struct dt_location location,
                                struct dt_node *condition, struct dt_node *yes, struct dt_node *no)
{
    struct dt_node *n = dt_node_with(p, DT_NODE_TERNARY, location, condition);

    n->right = yes;
    n->third = no;
    deeper_than(n, yes);
    deeper_than(n, no);
    return build_limit_depth(p, n);
}

/* obj`name is a symbol: its scope is the text before the last backquote. An inline counts as deep
 * as its body, which will stand here. */
struct dt_node *dt_node_name(struct dt_parse *p, struct dt_location location, const char *scope,
                             const char *name)
{
    struct dt_node *n = dt_node_new(p->session, DT_NODE_NAME, location);
    const char *quote = scope ? NULL : strrchr(name, '`');

    n->scope = quote ? dt_strndup(p->session, name, (size_t)(quote - name)) : scope;
    n->text = quote ? quote + 1 : name;
    if (!scope && !quote) {
        const struct dt_ident *i = dt_ident_lookup(p->session->globals, name);
        n->depth = i && i->kind == DT_IDENT_INLINE ? i->inline_body->depth + 1 : 0;
    }
    return build_limit_depth(p, n);
}

struct dt_node *dt_node_call(struct dt_parse *p, struct dt_location location,
                             struct dt_node *function, struct dt_node *args)
{
    struct dt_node *n = dt_node_new(p->session, DT_NODE_CALL, location);

    if (function->kind != DT_NODE_NAME) {
        dt_fail(p->session, location, "D_FUNC_IDENT",
                "function designator is not of function type");
    }
    const struct dt_ident *i =
        function->scope ? NULL : dt_ident_lookup(p->session->globals, function->text);
    if (!i || i->version > dt_session_version(p->session) ||
        (i->kind != DT_IDENT_FUNCTION && i->kind != DT_IDENT_ACTION &&
         i->kind != DT_IDENT_AGGFUNC)) {
        dt_fail(p->session, location, "D_FUNC_UNDEF", "undefined function name: %s%s",
                function->text,
                function->scope ? "" : dt_suggest_function(p->session, function->text));
    }
    n->text = function->text;
    return dt_node_list(p, n, args);
}

struct dt_node *dt_node_if(struct dt_parse *p, struct dt_location location,
                           struct dt_node *condition, struct dt_node *body,
                           struct dt_node *otherwise)
{
    struct dt_node *n = dt_node_with(p, DT_NODE_IF, location, condition);

    n->body = body;
    n->otherwise = otherwise;
    deeper_than(n, body);
    deeper_than(n, otherwise);
    return build_limit_depth(p, n);
}

void dt_clause_end(struct dt_parse *p, struct dt_location location, struct dt_node *probes,
                   struct dt_node *predicate, struct dt_node *body)
{
    struct dt_node *n = dt_node_with(p, DT_NODE_CLAUSE, location, predicate);
    size_t length = (size_t)(p->description_end - p->description_start);

    if (!p->program) {
        dt_fail(p->session, location, "D_SYNTAX", "probe clauses are not permitted in a D library");
    }
    n->probes = probes;
    n->body = body;
    p->clauses++;
    dt_target_clause(p, n, dt_strndup(p->session, p->description_start, length));
}

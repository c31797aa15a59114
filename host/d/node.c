/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the grammar builds trees with. How deep a tree may grow is limited here, for the back end
 * walks it by recursion.
 */
#include "host/d/front.h"
#include "host/d/suggest.h"
#include "trace/d/dif.h"

#include <string.h>

enum { DEPTH_MAX = 1000 };

struct d_node *d_node_new(struct d_session *d, enum d_node_kind kind, struct d_place place)
{
    struct d_node *n = d_alloc(d, sizeof(*n));

    n->kind = kind;
    n->place = place;
    return n;
}

static void deeper_than(struct d_node *n, const struct d_node *inner)
{
    for (; inner; inner = inner->next) {
        n->depth = inner->depth >= n->depth ? inner->depth + 1 : n->depth;
    }
}

static struct d_node *limited(struct d_parse *p, struct d_node *n)
{
    if (n->depth > DEPTH_MAX) {
        d_fail(p->session, n->place, "D_SYNTAX", "the program is nested too deeply");
    }
    return n;
}

struct d_node *d_node_with(struct d_parse *p, enum d_node_kind kind, struct d_place place,
                           struct d_node *left)
{
    struct d_node *n = d_node_new(p->session, kind, place);

    n->left = left;
    if (left) {
        n->depth = left->depth + 1;
    }
    return limited(p, n);
}

struct d_node *d_node_unary(struct d_parse *p, struct d_place place, int op, struct d_node *left)
{
    struct d_node *n = d_node_with(p, D_NODE_UNARY, place, left);

    n->op = op;
    return n;
}

struct d_node *d_node_binary(struct d_parse *p, struct d_place place, int op, struct d_node *left,
                             struct d_node *right)
{
    struct d_node *n = d_node_with(p, D_NODE_BINARY, place, left);

    n->op = op;
    n->right = right;
    deeper_than(n, right);
    return limited(p, n);
}

struct d_node *d_node_list(struct d_parse *p, struct d_node *n, struct d_node *args)
{
    n->args = args;
    deeper_than(n, args);
    return limited(p, n);
}

/* @a[k] is the aggregation with its keys, everything else is indexed. The arguments of an inline
 * stand in its body later: both depths count. */
struct d_node *d_node_index(struct d_parse *p, struct d_place place, struct d_node *of,
                            struct d_node *args)
{
    if (of->kind == D_NODE_AGG && !of->args) {
        return d_node_list(p, of, args);
    }
    struct d_node *n = d_node_binary(p, place, D_OP_INDEX, of, NULL);
    unsigned body = n->depth;
    d_node_list(p, n, args);
    n->depth += of->kind == D_NODE_NAME && of->depth ? body : 0;
    return limited(p, n);
}

/* A translator's members stand here later, with `of` in them. */
struct d_node *d_node_xlate(struct d_parse *p, struct d_place place, const struct d_type *type,
                            struct d_node *of)
{
    struct d_node *n = d_node_with(p, D_NODE_XLATE, place, of);

    n->type = type;
    n->depth += p->session->translators_depth;
    return limited(p, n);
}

struct d_node *d_node_ternary(struct d_parse *p, struct d_place place, struct d_node *condition,
                              struct d_node *yes, struct d_node *no)
{
    struct d_node *n = d_node_with(p, D_NODE_TERNARY, place, condition);

    n->right = yes;
    n->third = no;
    deeper_than(n, yes);
    deeper_than(n, no);
    return limited(p, n);
}

/* obj`name is a symbol: its scope is what stands before the last backquote. An inline counts as
 * deep as its body, which will stand here. */
struct d_node *d_node_name(struct d_parse *p, struct d_place place, const char *scope,
                           const char *name)
{
    struct d_node *n = d_node_new(p->session, D_NODE_NAME, place);
    const char *quote = scope ? NULL : strrchr(name, '`');

    n->scope = quote ? d_strndup(p->session, name, (size_t)(quote - name)) : scope;
    n->text = quote ? quote + 1 : name;
    if (!scope && !quote) {
        const struct d_ident *i = d_ident_lookup(p->session->globals, name);
        n->depth = i && i->kind == D_IDENT_INLINE ? i->inline_body->depth + 1 : 0;
    }
    return limited(p, n);
}

static bool is_function(const struct d_session *d, const char *name)
{
    const struct d_ident *i = d_ident_lookup(d->globals, name);

    return i && i->version <= d_session_version(d) &&
           (i->kind == D_IDENT_FUNCTION || i->kind == D_IDENT_ACTION || i->kind == D_IDENT_AGGFUNC);
}

struct d_node *d_node_call(struct d_parse *p, struct d_place place, struct d_node *function,
                           struct d_node *args)
{
    struct d_node *n = d_node_new(p->session, D_NODE_CALL, place);

    if (function->kind != D_NODE_NAME) {
        d_fail(p->session, place, "D_FUNC_IDENT", "function designator is not of function type");
    }
    if (function->scope || !is_function(p->session, function->text)) {
        const char *suggestion =
            function->scope ? "" : d_suggest_function(p->session, function->text);
        d_fail(p->session, place, "D_FUNC_UNDEF", "undefined function name: %s%s", function->text,
               suggestion);
    }
    n->text = function->text;
    return d_node_list(p, n, args);
}

struct d_node *d_node_if(struct d_parse *p, struct d_place place, struct d_node *condition,
                         struct d_node *body, struct d_node *otherwise)
{
    struct d_node *n = d_node_with(p, D_NODE_IF, place, condition);

    n->body = body;
    n->otherwise = otherwise;
    deeper_than(n, body);
    deeper_than(n, otherwise);
    return limited(p, n);
}

void d_clause_end(struct d_parse *p, struct d_place place, struct d_node *probes,
                  struct d_node *predicate, struct d_node *body)
{
    struct d_node *n = d_node_with(p, D_NODE_CLAUSE, place, predicate);
    size_t length = (size_t)(p->description_end - p->description_start);

    if (!p->program) {
        d_fail(p->session, place, "D_SYNTAX", "a library has no clauses");
    }
    n->probes = probes;
    n->body = body;
    p->clauses++;
    d_clause_compile(p->session, p->program, n,
                     d_strndup(p->session, p->description_start, length));
}

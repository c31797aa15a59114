/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes of syntax trees, and copies of trees, for inlines and translators, whose bodies are
 * expanded at each use.
 */
#include "host/dt/tree/ast.h"

#include <string.h>

struct dt_node *dt_node_new(struct dt_session *d, enum dt_node_kind kind,
                            struct dt_location location)
{
    struct dt_node *n = dt_alloc(d, sizeof(*n));

    n->kind = kind;
    n->location = location;
    return n;
}

void dt_set_type(struct dt_node *n, const struct dt_type *type)
{
    enum dt_type_kind kind = dt_type_resolve(type)->kind;

    n->type = type;
    n->is_ref = kind == DT_TYPE_STRING || kind == DT_TYPE_STRUCT || kind == DT_TYPE_UNION ||
                kind == DT_TYPE_ARRAY || kind == DT_TYPE_FUNCTION;
}

unsigned dt_list_length(const struct dt_node *list)
{
    unsigned n = 0;

    for (; list; list = list->next) {
        n++;
    }
    return n;
}

const char *dt_operator_text(int op)
{
    static const char *const names[] = {
        "==", "!=", "<=",  ">=",  "<<", ">>", "&&", "||", "^^", "+=", "-=", "*=", "/=", "%=", "&=",
        "|=", "^=", "<<=", ">>=", "++", "--", "++", "--", "->", "[]", "+",  "-",  "*",  "&"};
    static char single[2];

    if (op >= 256) {
        return names[op - 256];
    }
    single[0] = (char)op;
    return single;
}

/* ---- copies ------------------------------------------------------------------------ */

struct dt_node *dt_copy_list(struct dt_session *d, const struct dt_node *list, const char *name,
                             const struct dt_node *with)
{
    struct dt_node *first = NULL, **link = &first;

    for (; list; list = list->next) {
        *link = dt_copy(d, list, name, with);
        link = &(*link)->next;
    }
    return first;
}

struct dt_node *dt_copy(struct dt_session *d, const struct dt_node *n, const char *name,
                        const struct dt_node *with)
{
    struct dt_node *copy;

    if (!n) {
        return NULL;
    }
    if (name && n->kind == DT_NODE_NAME && !n->scope && strcmp(n->text, name) == 0) {
        copy = dt_copy(d, with, NULL, NULL);
        copy->next = NULL;
        return copy;
    }
    copy = dt_node_new(d, n->kind, n->location);
    *copy = *n;
    copy->next = NULL;
    if (n->is_target && n->kind == DT_NODE_INT) {
        copy->value = (uint64_t)d->target;
    } else if (n->is_target && n->kind == DT_NODE_STRING) {
        copy->text = dt_sprintf(d, "%d", (int)d->target);
    }
    copy->left = dt_copy(d, n->left, name, with);
    copy->right = dt_copy(d, n->right, name, with);
    copy->third = dt_copy(d, n->third, name, with);
    copy->args = dt_copy_list(d, n->args, name, with);
    copy->body = dt_copy_list(d, n->body, name, with);
    copy->otherwise = dt_copy_list(d, n->otherwise, name, with);
    return copy;
}

struct dt_node *dt_node_operator(struct dt_session *d, int op, struct dt_node *left,
                                 struct dt_node *right)
{
    struct dt_node *n = dt_node_new(d, DT_NODE_BINARY, left->location);

    n->op = op;
    n->left = left;
    n->right = right;
    return n;
}

struct dt_node *dt_node_int(struct dt_session *d, struct dt_location location, int64_t value,
                            const struct dt_type *type)
{
    struct dt_node *n = dt_node_new(d, DT_NODE_INT, location);

    n->value = (uint64_t)value;
    n->is_constant = true;
    dt_set_type(n, type);
    return n;
}

struct dt_node *dt_node_cast(struct dt_session *d, struct dt_node *of, const struct dt_type *type)
{
    struct dt_node *n = dt_node_new(d, DT_NODE_CAST, of->location);

    n->left = of;
    dt_set_type(n, type);
    return n;
}

void dt_become(struct dt_node *n, const struct dt_node *other)
{
    struct dt_node *next = n->next;

    *n = *other;
    n->next = next;
}

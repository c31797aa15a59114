/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of trees, for inlines and translators, whose bodies are expanded at each use; and small
 * makers of nodes.
 */
#include "host/d/back.h"

#include <string.h>

static bool is_name(const struct d_node *n, const char *name)
{
    return name && n->kind == D_NODE_NAME && !n->scope && strcmp(n->text, name) == 0;
}

struct d_node *d_copy_list(struct d_session *d, const struct d_node *list, const char *name,
                           const struct d_node *with)
{
    struct d_node *first = NULL, **link = &first;

    for (; list; list = list->next) {
        *link = d_copy(d, list, name, with);
        link = &(*link)->next;
    }
    return first;
}

struct d_node *d_copy(struct d_session *d, const struct d_node *n, const char *name,
                      const struct d_node *with)
{
    struct d_node *copy;

    if (!n) {
        return NULL;
    }
    if (is_name(n, name)) {
        copy = d_copy(d, with, NULL, NULL);
        copy->next = NULL;
        return copy;
    }
    copy = d_node_new(d, n->kind, n->place);
    *copy = *n;
    copy->next = NULL;
    copy->left = d_copy(d, n->left, name, with);
    copy->right = d_copy(d, n->right, name, with);
    copy->third = d_copy(d, n->third, name, with);
    copy->args = d_copy_list(d, n->args, name, with);
    copy->body = d_copy_list(d, n->body, name, with);
    copy->otherwise = d_copy_list(d, n->otherwise, name, with);
    return copy;
}

struct d_node *d_node_int(struct d_session *d, struct d_place place, int64_t value,
                          const struct d_type *type)
{
    struct d_node *n = d_node_new(d, D_NODE_INT, place);

    n->value = (uint64_t)value;
    n->is_constant = true;
    d_set_type(n, type);
    return n;
}

struct d_node *d_node_cast(struct d_session *d, struct d_node *of, const struct d_type *type)
{
    struct d_node *n = d_node_new(d, D_NODE_CAST, of->place);

    n->left = of;
    d_set_type(n, type);
    return n;
}

void d_become(struct d_node *n, const struct d_node *other)
{
    struct d_node *next = n->next;

    *n = *other;
    n->next = next;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a name in an expression stands for: a variable, a constant, an inline, a symbol of the
 * target.
 */
#include "host/d/back.h"
#include "host/d/suggest.h"

#include <string.h>

struct d_ident *d_variable_lookup(struct d_session *d, const char *scope, const char *name)
{
    if (!scope) {
        struct d_ident *ident = d_ident_lookup(d_session_globals(d), name);
        bool later = ident && ident->version > d_session_version(d);
        return later ? NULL : ident; /* the name is free under an older version= */
    }
    if (strcmp(scope, "self") == 0) {
        return d_ident_lookup(d_session_threads(d), name);
    }
    if (strcmp(scope, "this") == 0) {
        return d_ident_lookup(d_session_locals(d), name);
    }
    return NULL;
}

static bool is_variable_scope(const char *scope)
{
    return !scope || strcmp(scope, "self") == 0 || strcmp(scope, "this") == 0;
}

void d_use(struct d_session *d, const struct d_ident *ident)
{
    struct d_clause *clause = d_session_back(d)->clause;

    if (!clause) {
        return;
    }
    struct d_attributes_short *least = &clause->attributes;
    const struct d_attributes_short *a = &ident->attributes;
    least->name = a->name < least->name ? a->name : least->name;
    least->data = a->data < least->data ? a->data : least->data;
    least->class = a->class < least->class ? a->class : least->class;
}

static void become_enumerator(struct d_session *d, struct d_node *n, int64_t value)
{
    n->kind = D_NODE_INT;
    n->value = (uint64_t)value;
    n->is_constant = true;
    d_set_type(n, d_type_basic(d, D_BASIC_INT));
}

static void check_symbol(struct d_session *d, struct d_node *n)
{
    const struct d_type *type = NULL;
    uint64_t address;
    int64_t value;

    if (d_enumerator_lookup(d, n->scope, n->text, &value)) {
        become_enumerator(d, n, value);
        return;
    }
    if (!d_symbol_lookup(d, n->scope, n->text, &address, &type) || !type) {
        d_fail(d, n->place, "D_IDENT_UNDEF", "failed to resolve %s`%s: Unknown symbol name",
               n->scope, n->text);
    }
    struct d_ident *ident = d_alloc(d, sizeof(*ident));
    *ident =
        (struct d_ident){.name = n->text, .kind = D_IDENT_SYMBOL, .type = type, .address = address};
    n->kind = D_NODE_IDENT;
    n->ident = ident;
    n->is_lvalue = true;
    d_set_type(n, type);
}

static void check_variable(struct d_node *n, struct d_ident *ident)
{
    n->kind = D_NODE_IDENT;
    n->ident = ident;
    n->is_lvalue = true;
    n->is_writable = (ident->flags & D_IDENT_WRITE) != 0;
    d_set_type(n, ident->type);
}

static void check_known_name(struct d_session *d, struct d_node *n, struct d_ident *ident)
{
    ident->flags |= D_IDENT_USED;
    d_use(d, ident);
    switch (ident->kind) {
    case D_IDENT_ENUMERATOR:
        become_enumerator(d, n, ident->value);
        return;
    case D_IDENT_INLINE:
        if (ident->ninline_parameters) {
            d_fail(d, n->place, "D_IDENT_BADREF",
                   "inline %s may not be referenced without its arguments in [ ]", n->text);
        }
        d_inline_expand(d, n, ident, NULL);
        return;
    case D_IDENT_SCALAR:
    case D_IDENT_XLATOR:
        if (!ident->type) {
            d_fail(d, n->place, "D_IDENT_UNDEF", "%s has not yet been declared or assigned",
                   n->text);
        }
        check_variable(n, ident);
        return;
    default:
        d_fail(d, n->place, "D_IDENT_BADREF", "%s may not be referenced as a scalar: it is %s",
               n->text, ident->kind == D_IDENT_ARRAY ? "an array" : "a function");
    }
}

void d_check_name(struct d_session *d, struct d_node *n)
{
    if (!is_variable_scope(n->scope)) {
        check_symbol(d, n);
        return;
    }
    struct d_ident *ident = d_variable_lookup(d, n->scope, n->text);
    int64_t value;
    if (!ident && !n->scope && d_enumerator_lookup(d, NULL, n->text, &value)) {
        become_enumerator(d, n, value);
        return;
    }
    if (!ident) {
        d_fail(d, n->place, "D_IDENT_UNDEF", "failed to resolve %s%s%s: Unknown variable name%s",
               n->scope ? n->scope : "", n->scope ? "->" : "", n->text,
               d_suggest_variable(d, n->scope, n->text));
    }
    check_known_name(d, n, ident);
}

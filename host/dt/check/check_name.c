/* SPDX-License-Identifier: BSD-2-Clause */
/* Resolves a name in an expression: a variable, a constant, an inline, a symbol of the target. */
#include "host/dt/check/check.h"
#include "host/dt/check/derived.h"
#include "host/dt/check/suggest.h"
#include "host/dt/types/elf.h"

#include <string.h>

struct dt_ident *dt_variable_lookup(struct dt_session *d, const char *scope, const char *name)
{
    if (!scope) {
        struct dt_ident *ident = dt_ident_lookup(d->globals, name);
        bool later = ident && ident->version > dt_session_version(d);
        return later ? NULL : ident; /* the name is free under an older version= */
    }
    if (strcmp(scope, "self") == 0) {
        return dt_ident_lookup(d->threads, name);
    }
    if (strcmp(scope, "this") == 0) {
        return dt_ident_lookup(d->locals, name);
    }
    return NULL;
}

void dt_use(struct dt_session *d, const struct dt_ident *ident)
{
    struct dt_clause *clause = d->programs->clause;

    if (!clause) {
        return;
    }
    struct dt_attributes_short *least = &clause->attributes;
    const struct dt_attributes_short *a = &ident->attributes;
    least->name = a->name < least->name ? a->name : least->name;
    least->data = a->data < least->data ? a->data : least->data;
    least->class = a->class < least->class ? a->class : least->class;
}

static void become_enumerator(struct dt_session *d, struct dt_node *n, int64_t value)
{
    n->kind = DT_NODE_INT;
    n->value = (uint64_t)value;
    n->is_constant = true;
    dt_set_type(n, dt_type_basic(d, DT_BASIC_INT));
}

bool dt_symbol_lookup(struct dt_session *d, const char *object, const char *name, uint64_t *address,
                      const struct dt_type **type)
{
    const struct dt_ident *declared = dt_ident_lookup(d->externs, name);
    bool known = dt_elf_symbol(d, object, name, address, type);

    if (!known && declared) {
        *address = 0;
    }
    if (declared && (!known || !*type)) {
        *type = declared->type;
    }
    return known || declared;
}

static void check_symbol(struct dt_session *d, struct dt_node *n)
{
    const struct dt_type *type = NULL;
    uint64_t address;
    int64_t value;

    if (dt_elf_enumerator(d, n->scope, n->text, &value)) {
        become_enumerator(d, n, value);
        return;
    }
    if (!dt_symbol_lookup(d, n->scope, n->text, &address, &type) || !type) {
        dt_fail(d, n->location, "D_IDENT_UNDEF", "failed to resolve %s`%s: Unknown symbol name",
                n->scope, n->text);
    }
    struct dt_ident *ident = dt_alloc(d, sizeof(*ident));
    *ident = (struct dt_ident){
        .name = n->text, .kind = DT_IDENT_SYMBOL, .type = type, .address = address};
    n->kind = DT_NODE_IDENT;
    n->ident = ident;
    n->is_lvalue = true;
    dt_set_type(n, type);
}

static void check_known_name(struct dt_session *d, struct dt_node *n, struct dt_ident *ident)
{
    ident->flags |= DT_IDENT_USED;
    dt_use(d, ident);
    if (ident->lacks) {
        dt_fail(d, n->location, "D_IDENT_UNDEF", "%s is not available: %s", n->text, ident->lacks);
    }
    if (dt_derived_variable(d, n, ident)) {
        return;
    }
    switch (ident->kind) {
    case DT_IDENT_ENUMERATOR:
        become_enumerator(d, n, ident->value);
        return;
    case DT_IDENT_INLINE:
        if (ident->ninline_parameters) {
            dt_fail(d, n->location, "D_IDENT_BADREF",
                    "associative array '%s' may not be referenced as scalar", n->text);
        }
        dt_inline_expand(d, n, ident, NULL);
        return;
    case DT_IDENT_SCALAR:
    case DT_IDENT_XLATOR:
        if (!ident->type) {
            dt_fail(d, n->location, "D_IDENT_UNDEF", "%s has not yet been declared or assigned",
                    n->text);
        }
        n->kind = DT_NODE_IDENT;
        n->ident = ident;
        n->is_lvalue = true;
        n->is_writable = (ident->flags & DT_IDENT_WRITE) != 0;
        dt_set_type(n, ident->type);
        return;
    default:
        dt_fail(d, n->location, "D_IDENT_BADREF", "%s '%s' may not be referenced as scalar",
                ident->kind == DT_IDENT_ARRAY     ? "associative array"
                : ident->kind == DT_IDENT_ACTION  ? "tracing function"
                : ident->kind == DT_IDENT_AGGFUNC ? "aggregating function"
                                                  : "function",
                n->text);
    }
}

void dt_check_name(struct dt_session *d, struct dt_node *n)
{
    if (n->scope && strcmp(n->scope, "self") != 0 && strcmp(n->scope, "this") != 0) {
        check_symbol(d, n);
        return;
    }
    struct dt_ident *ident = dt_variable_lookup(d, n->scope, n->text);
    int64_t value;
    if (!ident && !n->scope && dt_elf_enumerator(d, NULL, n->text, &value)) {
        become_enumerator(d, n, value);
        return;
    }
    if (!ident) {
        dt_fail(d, n->location, "D_IDENT_UNDEF",
                "failed to resolve %s%s%s: Unknown variable name%s", n->scope ? n->scope : "",
                n->scope ? "->" : "", n->text, dt_suggest_variable(d, n->scope, n->text));
    }
    check_known_name(d, n, ident);
}

struct dt_ident *dt_agg_lookup(struct dt_session *d, const struct dt_node *n)
{
    struct dt_ident *ident = dt_ident_lookup(d->aggregations, n->text);

    if (!ident || !ident->aggregation) {
        dt_fail(d, n->location, "D_IDENT_UNDEF", "undefined aggregation: @%s%s", n->text,
                dt_suggest_aggregation(d, n->text));
    }
    return ident;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declarators: from "*(*f[3])(int)" and the specifiers before it to a type.
 */
#include "host/d/type_name.h"

#include <string.h>

enum { DERIVATIONS_MAX = 256 };

struct d_declarator *d_declarator_new(struct d_parse *p, struct d_place place, const char *name)
{
    struct d_declarator *r = d_alloc(p->session, sizeof(*r));

    r->name = name;
    r->place = place;
    r->end = &r->first;
    return r;
}

static struct d_derivation *derive(struct d_parse *p, struct d_declarator *r, struct d_place place,
                                   enum d_type_kind kind)
{
    struct d_derivation *x = d_alloc(p->session, sizeof(*x));

    x->kind = kind;
    x->place = place;
    *r->end = x;
    r->end = &x->next;
    return x;
}

void d_declarator_pointer(struct d_parse *p, struct d_declarator *r, struct d_place place,
                          unsigned qualifiers)
{
    derive(p, r, place, D_TYPE_POINTER)->qualifiers = qualifiers;
}

void d_declarator_array(struct d_parse *p, struct d_declarator *r, struct d_place place,
                        struct d_node *count, struct d_parameters *parameters)
{
    struct d_derivation *x = derive(p, r, place, D_TYPE_ARRAY);

    x->count = count;
    x->parameters = parameters;
}

void d_declarator_function(struct d_parse *p, struct d_declarator *r, struct d_place place,
                           struct d_parameters *parameters)
{
    derive(p, r, place, D_TYPE_FUNCTION)->parameters = parameters;
}

/* ---- parameters --------------------------------------------------------------------------------
 */

struct d_parameters *d_parameters_new(struct d_parse *p)
{
    struct d_parameters *list = d_alloc(p->session, sizeof(*list));

    list->end = &list->first;
    return list;
}

/* As C has it: arrays and functions are pointers as parameters. */
static const struct d_type *adjusted(struct d_session *d, const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    if (t->kind == D_TYPE_ARRAY) {
        return d_type_pointer(d, t->to);
    }
    return t->kind == D_TYPE_FUNCTION ? d_type_pointer(d, type) : type;
}

void d_parameters_add(struct d_parse *p, struct d_parameters *list, struct d_place place,
                      const struct d_declarator *r)
{
    struct d_parameter *x = d_alloc(p->session, sizeof(*x));
    enum d_storage storage = p->scope->specs.storage;

    if (storage != D_STORAGE_NONE && storage != D_STORAGE_REGISTER) {
        d_fail(p->session, place, "D_DECL_PARMCLASS",
               "storage class not appropriate for function or associative array parameter");
    }
    x->type = adjusted(p->session, d_declared_type(p, r, NULL));
    x->name = r ? r->name : NULL;
    x->place = place;
    *list->end = x;
    list->end = &x->next;
    d_specs_end(p);
}

static void check_void(struct d_parse *p, const struct d_parameter *x, bool keys)
{
    struct d_session *d = p->session;

    if (keys) {
        d_fail(d, x->place, "D_DECL_PROTO_TYPE", "a key can't be void");
    }
    if (x->name) {
        d_fail(d, x->place, "D_DECL_PROTO_NAME", "void parameter may not have a name");
    }
}

/* What a list of parameters may hold. keys: of an associative array. The order of the checks is the
 * classic compiler's: which of two errors is given depends on it. */
static void check_parameters(struct d_parse *p, const struct d_parameters *list,
                             struct d_place place, bool keys)
{
    bool any_void = false;

    for (const struct d_parameter *x = list->first; x; x = x->next) {
        enum d_type_kind kind = d_type_resolve(x->type)->kind;
        if (kind == D_TYPE_DYNAMIC) {
            d_fail(p->session, x->place, "D_DECL_PROTO_TYPE", "a parameter of this type can't be");
        }
        if (kind == D_TYPE_VOID) {
            check_void(p, x, keys);
            any_void = true;
        }
        if (any_void && x != list->first) {
            d_fail(p->session, x->place, "D_DECL_PROTO_VOID",
                   "void must be sole parameter in a function declaration");
        }
    }
    if (keys && list->varargs) {
        d_fail(p->session, place, "D_DECL_PROTO_VARARGS",
               "associative array prototype may not use a variable-length argument list");
    }
    if (any_void && list->varargs) {
        d_fail(p->session, place, "D_DECL_PROTO_VOID",
               "void must be sole parameter in a function declaration");
    }
}

/* ---- types -------------------------------------------------------------------------------------
 */

uint64_t d_positive_constant(struct d_parse *p, struct d_node *n, const char *tag)
{
    const struct d_type *type = d_check_expression(p->session, n);
    bool negative =
        n->kind == D_NODE_INT && d_type_resolve(type)->is_signed && (int64_t)n->value < 0;

    if (n->kind != D_NODE_INT || n->value == 0 || negative) {
        d_fail(p->session, n->place, tag, "positive integral constant expression%s expected as %s",
               strcmp(tag, "D_DECL_ARRSUB") == 0 ? " or tuple signature" : "",
               strcmp(tag, "D_DECL_ARRSUB") == 0 ? "array declaration subscript"
                                                 : "bit-field size");
    }
    return n->value;
}

/* Arrays must be of something that has a size. */
static void check_element(struct d_parse *p, const struct d_derivation *x, const struct d_type *of)
{
    const struct d_type *t = d_type_resolve(of);

    if (t->kind == D_TYPE_VOID || t->kind == D_TYPE_FUNCTION) {
        d_fail(p->session, x->place, "D_DECL_VOIDOBJ", "an array of %s can't be",
               t->kind == D_TYPE_VOID ? "void" : "functions");
    }
    if (t->kind == D_TYPE_FORWARD) {
        d_fail(p->session, x->place, "D_DECL_INCOMPLETE", "an array of an incomplete type");
    }
    if (t->kind == D_TYPE_ARRAY && t->count == 0) {
        d_fail(p->session, x->place, "D_DECL_ARRNULL", "only the first dimension needs no size");
    }
}

static const struct d_type *array(struct d_parse *p, const struct d_derivation *x,
                                  const struct d_type *of)
{
    uint64_t count = 0, element = d_type_resolve(of)->size;

    check_element(p, x, of);
    if (x->parameters) {
        d_fail(p->session, x->place, "D_DECL_ARRSUB",
               "an associative array must be the whole type");
    }
    if (x->count) {
        count = d_positive_constant(p, x->count, "D_DECL_ARRSUB");
        if (count > UINT32_MAX || (element && count > INT64_MAX / element)) {
            d_fail(p->session, x->place, "D_DECL_ARRBIG", "array dimension too big");
        }
    }
    return d_type_array(p->session, of, count);
}

static const struct d_type *function(struct d_parse *p, const struct d_derivation *x,
                                     const struct d_type *result)
{
    struct d_session *d = p->session;
    struct d_type t = {.kind = D_TYPE_FUNCTION, .align = 1, .to = result};
    const struct d_parameter *y = x->parameters->first;

    check_parameters(p, x->parameters, x->place, false);
    t.varargs = x->parameters->varargs;
    if (y && d_type_resolve(y->type)->kind == D_TYPE_VOID) {
        return d_type_new(d, &t);
    }
    for (; y; y = y->next) {
        t.nmembers++;
    }
    t.members = d_alloc(d, (t.nmembers + 1) * sizeof(*t.members));
    y = x->parameters->first;
    for (unsigned i = 0; i < t.nmembers; i++, y = y->next) {
        t.members[i] = (struct d_member){.name = y->name, .type = y->type};
    }
    return d_type_new(d, &t);
}

static const struct d_type *apply(struct d_parse *p, const struct d_derivation *x,
                                  const struct d_type *to)
{
    switch (x->kind) {
    case D_TYPE_POINTER:
        return d_type_qualify(p->session, d_type_pointer(p->session, to), x->qualifiers);
    case D_TYPE_ARRAY:
        return array(p, x, to);
    default:
        return function(p, x, to);
    }
}

const struct d_type *d_declared_type(struct d_parse *p, const struct d_declarator *r,
                                     const struct d_parameters **keys)
{
    const struct d_derivation *list[DERIVATIONS_MAX], *first = r ? r->first : NULL;
    const struct d_type *type = d_specs_type(p);
    unsigned n = 0;

    if (keys) {
        *keys = NULL;
    }
    if (keys && first && first->kind == D_TYPE_ARRAY && first->parameters) {
        check_parameters(p, first->parameters, first->place, true);
        *keys = first->parameters;
        first = first->next;
    }
    for (; first; first = first->next) {
        if (n == DERIVATIONS_MAX) {
            d_fail(p->session, r->place, "D_SYNTAX", "the declaration is nested too deeply");
        }
        list[n++] = first;
    }
    while (n > 0) {
        type = apply(p, list[--n], type);
    }
    return type;
}

const struct d_type *d_type_name_end(struct d_parse *p, const struct d_declarator *r)
{
    const struct d_type *type = d_declared_type(p, r, NULL);

    if (p->scope->specs.storage != D_STORAGE_NONE) {
        d_fail(p->session, p->scope->specs.place, "D_SYNTAX", "a storage class can't stand here");
    }
    d_specs_end(p);
    return type;
}

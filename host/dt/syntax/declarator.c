/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declarators: from "*(*f[3])(int)" and the specifiers before it to a type.
 */
#include "host/dt/check/check.h"
#include "host/dt/syntax/parse.h"

#include <string.h>

enum { DERIVATIONS_MAX = 256 };

struct dt_declarator *dt_declarator_new(struct dt_parse *p, struct dt_location location,
                                        const char *name)
{
    struct dt_declarator *r = dt_alloc(p->session, sizeof(*r));

    r->name = name;
    r->location = location;
    r->end = &r->first;
    return r;
}

static struct dt_derivation *declarator_derive_type(struct dt_parse *p, struct dt_declarator *r,
                                                    struct dt_location location,
                                                    enum dt_type_kind kind)
{
    struct dt_derivation *x = dt_alloc(p->session, sizeof(*x));

    x->kind = kind;
    x->location = location;
    *r->end = x;
    r->end = &x->next;
    return x;
}

void dt_declarator_pointer(struct dt_parse *p, struct dt_declarator *r, struct dt_location location,
                           unsigned qualifiers)
{
    declarator_derive_type(p, r, location, DT_TYPE_POINTER)->qualifiers = qualifiers;
}

void dt_declarator_array(struct dt_parse *p, struct dt_declarator *r, struct dt_location location,
                         struct dt_node *count, struct dt_parameters *parameters)
{
    struct dt_derivation *x = declarator_derive_type(p, r, location, DT_TYPE_ARRAY);

    x->count = count;
    x->parameters = parameters;
}

void dt_declarator_function(struct dt_parse *p, struct dt_declarator *r,
                            struct dt_location location, struct dt_parameters *parameters)
{
    declarator_derive_type(p, r, location, DT_TYPE_FUNCTION)->parameters = parameters;
}

/* ---- parameters -------------------------------------------------------------------- */

struct dt_parameters *dt_parameters_new(struct dt_parse *p)
{
    struct dt_parameters *list = dt_alloc(p->session, sizeof(*list));

    list->end = &list->first;
    return list;
}

void dt_parameters_add(struct dt_parse *p, struct dt_parameters *list, struct dt_location location,
                       const struct dt_declarator *r)
{
    struct dt_parameter *x = dt_alloc(p->session, sizeof(*x));
    enum dt_storage storage = p->scope->specs.storage;

    if (storage != DT_STORAGE_NONE && storage != DT_STORAGE_REGISTER) {
        dt_fail(p->session, location, "D_DECL_PARMCLASS",
                "storage class not appropriate for function or associative array parameter");
    }
    x->type = dt_declared_type(p, r, NULL);
    const struct dt_type *t = dt_type_resolve(x->type);
    if (t->kind == DT_TYPE_ARRAY || t->kind == DT_TYPE_FUNCTION) { /* as in C: a pointer */
        x->type = dt_type_pointer(p->session, t->kind == DT_TYPE_ARRAY ? t->to : x->type);
    }
    x->name = r ? r->name : NULL;
    x->location = location;
    *list->end = x;
    list->end = &x->next;
    dt_specs_end(p);
}

/* Checks a list of parameters. keys: of an associative array. The order of the checks is the
 * classic compiler's, because it decides which of two errors is reported. */
static void check_parameters(struct dt_parse *p, const struct dt_parameters *list,
                             struct dt_location location, bool keys)
{
    bool any_void = false;

    for (const struct dt_parameter *x = list->first; x; x = x->next) {
        enum dt_type_kind kind = dt_type_resolve(x->type)->kind;
        if (kind == DT_TYPE_DYNAMIC) {
            dt_fail(p->session, x->location, "D_DECL_PROTO_TYPE",
                    "dynamic type may not be used for a parameter");
        }
        if (kind == DT_TYPE_VOID && keys) {
            dt_fail(p->session, x->location, "D_DECL_PROTO_TYPE",
                    "void may not be used as an associative array key");
        }
        if (kind == DT_TYPE_VOID && x->name) {
            dt_fail(p->session, x->location, "D_DECL_PROTO_NAME",
                    "void parameter may not have a name");
        }
        any_void |= kind == DT_TYPE_VOID;
        if (any_void && x != list->first) {
            dt_fail(p->session, x->location, "D_DECL_PROTO_VOID",
                    "void must be sole parameter in a function declaration");
        }
    }
    if (keys && list->varargs) {
        dt_fail(p->session, location, "D_DECL_PROTO_VARARGS",
                "associative array prototype may not use a variable-length argument list");
    }
    if (any_void && list->varargs) {
        dt_fail(p->session, location, "D_DECL_PROTO_VOID",
                "void must be sole parameter in a function declaration");
    }
}

/* ---- types ------------------------------------------------------------------------- */

uint64_t dt_positive_constant(struct dt_parse *p, struct dt_node *n, const char *tag)
{
    dt_target_refuse(p, n);
    const struct dt_type *type = dt_check_expression(p->session, n);
    bool negative =
        n->kind == DT_NODE_INT && dt_type_resolve(type)->is_signed && (int64_t)n->value < 0;

    if (n->kind != DT_NODE_INT || n->value == 0 || negative) {
        dt_fail(
            p->session, n->location, tag, "positive integral constant expression%s expected as %s",
            strcmp(tag, "D_DECL_ARRSUB") == 0 ? " or tuple signature" : "",
            strcmp(tag, "D_DECL_ARRSUB") == 0 ? "array declaration subscript" : "bit-field size");
    }
    return n->value;
}

/* Arrays must be of something that has a size. */
static void declarator_check_element(struct dt_parse *p, const struct dt_derivation *x,
                                     const struct dt_type *of)
{
    const struct dt_type *t = dt_type_resolve(of);

    if (t->kind == DT_TYPE_VOID || t->kind == DT_TYPE_FUNCTION) {
        dt_fail(p->session, x->location, "D_DECL_VOIDOBJ", "cannot have an array of %s",
                t->kind == DT_TYPE_VOID ? "void" : "functions");
    }
    if (t->kind == DT_TYPE_FORWARD) {
        dt_fail(p->session, x->location, "D_DECL_INCOMPLETE", "array has incomplete element type");
    }
    if (t->kind == DT_TYPE_ARRAY && t->count == 0) {
        dt_fail(p->session, x->location, "D_DECL_ARRNULL",
                "array declaration requires array dimension: only the first may be omitted");
    }
}

static const struct dt_type *
declarator_array_type(struct dt_parse *p, const struct dt_derivation *x, const struct dt_type *of)
{
    uint64_t count = 0, element = dt_type_resolve(of)->size;

    declarator_check_element(p, x, of);
    if (x->parameters) {
        dt_fail(p->session, x->location, "D_DECL_ARRSUB",
                "associative array may not be part of another type");
    }
    if (x->count) {
        count = dt_positive_constant(p, x->count, "D_DECL_ARRSUB");
        if (count > UINT32_MAX || (element && count > INT64_MAX / element)) {
            dt_fail(p->session, x->location, "D_DECL_ARRBIG", "array dimension too big");
        }
    }
    return dt_type_array(p->session, of, count);
}

static const struct dt_type *declarator_function_type(struct dt_parse *p,
                                                      const struct dt_derivation *x,
                                                      const struct dt_type *result)
{
    struct dt_session *d = p->session;
    struct dt_type t = {.kind = DT_TYPE_FUNCTION, .align = 1, .to = result};
    const struct dt_parameter *y = x->parameters->first;

    check_parameters(p, x->parameters, x->location, false);
    t.varargs = x->parameters->varargs;
    if (y && dt_type_resolve(y->type)->kind == DT_TYPE_VOID) {
        return dt_type_new(d, &t);
    }
    for (; y; y = y->next) {
        t.nmembers++;
    }
    t.members = dt_alloc(d, (t.nmembers + 1) * sizeof(*t.members));
    y = x->parameters->first;
    for (unsigned i = 0; i < t.nmembers; i++, y = y->next) {
        t.members[i] = (struct dt_member){.name = y->name, .type = y->type};
    }
    return dt_type_new(d, &t);
}

const struct dt_type *dt_declared_type(struct dt_parse *p, const struct dt_declarator *r,
                                       const struct dt_parameters **keys)
{
    const struct dt_derivation *list[DERIVATIONS_MAX], *first = r ? r->first : NULL;
    const struct dt_type *type = dt_specs_type(p);
    unsigned n = 0;

    if (keys) {
        *keys = NULL;
    }
    if (keys && first && first->kind == DT_TYPE_ARRAY && first->parameters) {
        check_parameters(p, first->parameters, first->location, true);
        *keys = first->parameters;
        first = first->next;
    }
    for (; first; first = first->next) {
        if (n == DERIVATIONS_MAX) {
            dt_fail(p->session, r->location, "D_SYNTAX", "the declaration is nested too deeply");
        }
        list[n++] = first;
    }
    while (n > 0) {
        const struct dt_derivation *x = list[--n];
        type = x->kind == DT_TYPE_ARRAY ? declarator_array_type(p, x, type)
               : x->kind == DT_TYPE_FUNCTION
                   ? declarator_function_type(p, x, type)
                   : dt_type_qualify(p->session, dt_type_pointer(p->session, type), x->qualifiers);
    }
    return type;
}

const struct dt_type *dt_type_name_end(struct dt_parse *p, const struct dt_declarator *r)
{
    const struct dt_type *type = dt_declared_type(p, r, NULL);

    if (p->scope->specs.storage != DT_STORAGE_NONE) {
        dt_fail(p->session, p->scope->specs.location, "D_SYNTAX",
                "storage class may not be used in a type name");
    }
    dt_specs_end(p);
    return type;
}

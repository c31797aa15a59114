/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declared names enter the session's tables: variables, typedefs, what is extern.
 */
#include "host/d/type_name.h"

#include <string.h>

static _Noreturn void taken(struct d_parse *p, const struct d_declarator *r)
{
    d_fail(p->session, r->place, "D_DECL_IDRED", "identifier redeclared: %s", r->name);
}

static bool is_visible(const struct d_session *d, const struct d_ident *i)
{
    return i && i->version <= d_session_version(d);
}

static void check_no_array_without_size(struct d_parse *p, const struct d_declarator *r,
                                        const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    if (t->kind == D_TYPE_ARRAY && t->count == 0) {
        d_fail(p->session, r->place, "D_DECL_ARRNULL",
               "array declaration requires array dimension or tuple signature: %s", r->name);
    }
}

static void declare_type(struct d_parse *p, const struct d_declarator *r)
{
    struct d_session *d = p->session;
    const struct d_type *to = d_declared_type(p, r, NULL);
    struct d_type type = {
        .kind = D_TYPE_TYPEDEF, .name = r->name, .size = to->size, .align = to->align, .to = to};

    check_no_array_without_size(p, r, to);
    if (is_visible(d, d_ident_lookup(d->globals, r->name)) ||
        !d_type_define(d, r->name, d_type_new(d, &type))) {
        taken(p, r);
    }
}

static void enter_extern(struct d_parse *p, const struct d_declarator *r, const struct d_type *type)
{
    struct d_session *d = p->session;
    const struct d_ident *old = d_ident_lookup(d->externs, r->name);

    if (old && !d_type_same(old->type, type)) {
        taken(p, r);
    }
    d_ident_add(d, d->externs, r->name, D_IDENT_SYMBOL)->type = type;
}

static void declare_extern(struct d_parse *p, const struct d_declarator *r)
{
    enter_extern(p, r, d_declared_type(p, r, NULL));
}

/* ---- variables ---------------------------------------------------------------------------------
 */

static void check_object(struct d_parse *p, const struct d_declarator *r, const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    if (t->kind == D_TYPE_VOID || t->kind == D_TYPE_FUNCTION) {
        d_fail(p->session, r->place, "D_DECL_VOIDOBJ", "cannot have %s object: %s",
               t->kind == D_TYPE_VOID ? "void" : "function", r->name);
    }
    if (t->kind == D_TYPE_FORWARD || (d_type_is_struct(t) && t->size == 0)) {
        d_fail(p->session, r->place, "D_DECL_INCOMPLETE",
               "variable %s is of an incomplete type: %s", r->name,
               d_type_full_text(p->session, type));
    }
    check_no_array_without_size(p, r, type);
}

static bool same_keys(const struct d_signature *s, const struct d_parameters *keys)
{
    const struct d_parameter *k = keys->first;
    unsigned i = 0;

    for (; k && i < s->nargs; k = k->next, i++) {
        if (!d_type_same(s->args[i], k->type)) {
            return false;
        }
    }
    return !k && i == s->nargs;
}

/* Declared again, or used before: it must be the same. */
static void check_again(struct d_parse *p, const struct d_declarator *r, const struct d_ident *i,
                        const struct d_type *type, const struct d_parameters *keys)
{
    bool same = !(i->flags & D_IDENT_BUILTIN) &&
                i->kind == (keys ? D_IDENT_ARRAY : D_IDENT_SCALAR) &&
                (!i->type || d_type_same(i->type, type)) &&
                (!keys || !i->signature.fixed || same_keys(&i->signature, keys));

    if (!same) {
        taken(p, r);
    }
}

static void fix_keys(struct d_session *d, struct d_ident *i, const struct d_parameters *keys)
{
    unsigned n = 0;

    for (const struct d_parameter *k = keys->first; k; k = k->next) {
        n++;
    }
    const struct d_type **types = d_alloc(d, (n + 1) * sizeof(*types));
    n = 0;
    for (const struct d_parameter *k = keys->first; k; k = k->next) {
        types[n++] = k->type;
    }
    i->signature = (struct d_signature){.args = types, .nargs = n, .fixed = true};
}

static void enter(struct d_session *d, struct d_identhash *table, const struct d_declarator *r,
                  unsigned flags, const struct d_type *type, const struct d_parameters *keys)
{
    struct d_ident *i = d_ident_add(d, table, r->name, keys ? D_IDENT_ARRAY : D_IDENT_SCALAR);

    i->flags = flags | D_IDENT_WRITE | D_IDENT_DECLARED;
    i->number = d_variable_number(d);
    i->type = type;
    if (keys) {
        fix_keys(d, i, keys);
    }
}

static void declare_variable(struct d_parse *p, const struct d_declarator *r,
                             enum d_storage storage)
{
    struct d_session *d = p->session;
    const struct d_parameters *keys = NULL;
    const struct d_type *type = d_declared_type(p, r, &keys);
    struct d_identhash *table = storage == D_STORAGE_SELF   ? d->threads
                                : storage == D_STORAGE_THIS ? d->locals
                                                            : d->globals;
    unsigned flags = storage == D_STORAGE_SELF   ? D_IDENT_THREAD
                     : storage == D_STORAGE_THIS ? D_IDENT_LOCAL
                                                 : 0;
    const struct d_ident *old = d_ident_lookup(table, r->name);

    if (d_type_own(d, D_TYPE_TYPEDEF, r->name)) {
        taken(p, r);
    }
    if (keys && storage == D_STORAGE_THIS) {
        d_fail(d, r->place, "D_DECL_LOCASSC",
               "associative array may not be declared as local variable: %s", r->name);
    }
    bool function = d_type_resolve(type)->kind == D_TYPE_FUNCTION;
    if (function && table == d->globals && !is_visible(d, old)) {
        enter_extern(p, r, type); /* as in C */
    } else if (is_visible(d, old)) {
        check_again(p, r, old, type, keys);
    } else {
        check_object(p, r, type);
        enter(d, table, r, flags, type, keys);
    }
}

void d_declare(struct d_parse *p, const struct d_declarator *r)
{
    enum d_storage storage = p->scope->specs.storage;

    if (strchr(r->name, '`')) {
        d_fail(p->session, r->place, "D_DECL_SCOPE", "a declared name can't have a `: %s", r->name);
    }
    switch (storage) {
    case D_STORAGE_AUTO:
    case D_STORAGE_REGISTER:
        d_fail(p->session, r->place, "D_DECL_BADCLASS",
               "specified storage class not appropriate in D: auto, register");
    case D_STORAGE_TYPEDEF:
        declare_type(p, r);
        break;
    case D_STORAGE_EXTERN:
        declare_extern(p, r);
        break;
    default:
        declare_variable(p, r, storage);
    }
}

void d_declare_nothing(struct d_parse *p, struct d_place place)
{
    const struct d_specs *s = &p->scope->specs;

    d_specs_type(p);
    if (!s->is_tag) {
        d_fail(p->session, place, "D_DECL_USELESS", "useless declaration");
    }
}

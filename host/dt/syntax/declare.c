/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declared names into the tables: types, variables, inlines, translators.
 */
#include "host/dt/check/check.h"
#include "host/dt/syntax/parse.h"

#include <string.h>

static _Noreturn void declare_name_taken(struct dt_parse *p, const struct dt_declarator *r)
{
    dt_fail(p->session, r->location, "D_DECL_IDRED", "identifier redeclared: %s", r->name);
}

static bool is_visible(const struct dt_session *d, const struct dt_ident *i)
{
    return i && i->version <= dt_session_version(d);
}

static void check_no_array_without_size(struct dt_parse *p, const struct dt_declarator *r,
                                        const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);

    if (t->kind == DT_TYPE_ARRAY && t->count == 0) {
        dt_fail(p->session, r->location, "D_DECL_ARRNULL",
                "array declaration requires array dimension or tuple signature: %s", r->name);
    }
}

static void declare_type(struct dt_parse *p, const struct dt_declarator *r)
{
    struct dt_session *d = p->session;
    const struct dt_type *to = dt_declared_type(p, r, NULL);
    struct dt_type type = {
        .kind = DT_TYPE_TYPEDEF, .name = r->name, .size = to->size, .align = to->align, .to = to};

    check_no_array_without_size(p, r, to);
    if (is_visible(d, dt_ident_lookup(d->globals, r->name)) ||
        !dt_type_define(d, r->name, dt_type_new(d, &type))) {
        declare_name_taken(p, r);
    }
}

static void enter_extern(struct dt_parse *p, const struct dt_declarator *r,
                         const struct dt_type *type)
{
    struct dt_session *d = p->session;
    const struct dt_ident *old = dt_ident_lookup(d->externs, r->name);

    if (old && !dt_type_same(old->type, type)) {
        declare_name_taken(p, r);
    }
    dt_ident_add(d, d->externs, r->name, DT_IDENT_SYMBOL)->type = type;
}

/* ---- variables --------------------------------------------------------------------- */

static void check_object(struct dt_parse *p, const struct dt_declarator *r,
                         const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);

    if (t->kind == DT_TYPE_VOID || t->kind == DT_TYPE_FUNCTION) {
        dt_fail(p->session, r->location, "D_DECL_VOIDOBJ", "cannot have %s object: %s",
                t->kind == DT_TYPE_VOID ? "void" : "function", r->name);
    }
    if (t->kind == DT_TYPE_FORWARD || (dt_type_is_struct(t) && t->size == 0)) {
        dt_fail(p->session, r->location, "D_DECL_INCOMPLETE", "variable %s has incomplete type: %s",
                r->name, dt_type_full_text(p->session, type));
    }
    check_no_array_without_size(p, r, type);
}

static bool declare_same_keys(const struct dt_signature *s, const struct dt_parameters *keys)
{
    const struct dt_parameter *k = keys->first;
    unsigned i = 0;

    for (; k && i < s->nargs; k = k->next, i++) {
        if (!dt_type_same(s->args[i], k->type)) {
            return false;
        }
    }
    return !k && i == s->nargs;
}

static void declare_enter_name(struct dt_session *d, struct dt_identhash *table,
                               const struct dt_declarator *r, unsigned flags,
                               const struct dt_type *type, const struct dt_parameters *keys)
{
    struct dt_ident *i = dt_ident_add(d, table, r->name, keys ? DT_IDENT_ARRAY : DT_IDENT_SCALAR);

    i->flags = flags | DT_IDENT_WRITE | DT_IDENT_DECLARED;
    i->number = dt_variable_number(d, r->location);
    i->type = type;
    if (keys) {
        unsigned n = 0;

        for (const struct dt_parameter *k = keys->first; k; k = k->next) {
            n++;
        }
        const struct dt_type **types = dt_alloc(d, (n + 1) * sizeof(*types));
        n = 0;
        for (const struct dt_parameter *k = keys->first; k; k = k->next) {
            types[n++] = k->type;
        }
        i->signature = (struct dt_signature){.args = types, .nargs = n, .fixed = true};
    }
}

static void declare_variable(struct dt_parse *p, const struct dt_declarator *r,
                             enum dt_storage storage)
{
    struct dt_session *d = p->session;
    const struct dt_parameters *keys = NULL;
    const struct dt_type *type = dt_declared_type(p, r, &keys);
    struct dt_identhash *table = storage == DT_STORAGE_SELF   ? d->threads
                                 : storage == DT_STORAGE_THIS ? d->locals
                                                              : d->globals;
    unsigned flags = storage == DT_STORAGE_SELF   ? DT_IDENT_THREAD
                     : storage == DT_STORAGE_THIS ? DT_IDENT_LOCAL
                                                  : 0;
    const struct dt_ident *old = dt_ident_lookup(table, r->name);

    if (dt_type_own(d, DT_TYPE_TYPEDEF, r->name)) {
        declare_name_taken(p, r);
    }
    if (keys && storage == DT_STORAGE_THIS) {
        dt_fail(d, r->location, "D_DECL_LOCASSC",
                "associative array may not be declared as local variable: %s", r->name);
    }
    bool function = dt_type_resolve(type)->kind == DT_TYPE_FUNCTION;
    if (function && table == d->globals && !is_visible(d, old)) {
        enter_extern(p, r, type); /* as in C */
    } else if (is_visible(d, old)) {
        /* Declared again, or used before: it must be the same. */
        bool same = !(old->flags & DT_IDENT_BUILTIN) &&
                    old->kind == (keys ? DT_IDENT_ARRAY : DT_IDENT_SCALAR) &&
                    (!old->type || dt_type_same(old->type, type)) &&
                    (!keys || !old->signature.fixed || declare_same_keys(&old->signature, keys));

        if (!same) {
            declare_name_taken(p, r);
        }
    } else {
        check_object(p, r, type);
        declare_enter_name(d, table, r, flags, type, keys);
    }
}

void dt_declare(struct dt_parse *p, const struct dt_declarator *r)
{
    enum dt_storage storage = p->scope->specs.storage;

    if (strchr(r->name, '`')) {
        dt_fail(p->session, r->location, "D_DECL_SCOPE",
                "scoping operator (`) may not be used in a declared name: %s", r->name);
    }
    switch (storage) {
    case DT_STORAGE_AUTO:
    case DT_STORAGE_REGISTER:
        dt_fail(p->session, r->location, "D_DECL_BADCLASS",
                "specified storage class not appropriate in D: auto, register");
    case DT_STORAGE_TYPEDEF:
        declare_type(p, r);
        break;
    case DT_STORAGE_EXTERN:
        enter_extern(p, r, dt_declared_type(p, r, NULL));
        break;
    default:
        declare_variable(p, r, storage);
    }
}

void dt_declare_nothing(struct dt_parse *p, struct dt_location location)
{
    const struct dt_specs *s = &p->scope->specs;

    dt_specs_type(p);
    if (!s->is_tag) {
        dt_fail(p->session, location, "D_DECL_USELESS", "useless declaration");
    }
}

/* ---- inlines and translators -------------------------------------------------------- */

static void declare_hide_name(struct dt_parse *p, const char *name)
{
    dt_room(p->session, &p->names, sizeof(const char *));
    ((const char **)p->names.data)[p->names.n++] = name;
}

static void add_parameters(struct dt_parse *p, struct dt_ident *i, const struct dt_parameters *list)
{
    unsigned n = 0;

    for (const struct dt_parameter *x = list->first; x; x = x->next) {
        n++;
    }
    i->inline_parameters = dt_alloc(p->session, (n + 1) * sizeof(*i->inline_parameters));
    for (const struct dt_parameter *x = list->first; x; x = x->next) {
        struct dt_ident *parameter = dt_alloc(p->session, sizeof(*parameter));
        if (!x->name) {
            dt_fail(p->session, x->location, "D_SYNTAX", "inline parameter requires a name");
        }
        *parameter = (struct dt_ident){.name = x->name, .kind = DT_IDENT_XLATOR, .type = x->type};
        i->inline_parameters[i->ninline_parameters++] = parameter;
        declare_hide_name(p, x->name);
    }
}

/* The ident is not yet known by its name: an inline can't mean itself. */
struct dt_ident *dt_inline_begin(struct dt_parse *p, const struct dt_declarator *r)
{
    struct dt_session *d = p->session;
    const struct dt_parameters *parameters = NULL;
    const struct dt_type *type = dt_declared_type(p, r, &parameters);
    const struct dt_ident *old = dt_ident_lookup(d->globals, r->name);
    enum dt_type_kind kind = dt_type_resolve(type)->kind;

    if (p->scope->specs.storage != DT_STORAGE_NONE) {
        dt_fail(d, r->location, "D_DECL_BADCLASS", "invalid storage class for inline");
    }
    if (strchr(r->name, '`')) {
        dt_fail(d, r->location, "D_DECL_SCOPE",
                "scoping operator (`) may not be used in a declared name: %s", r->name);
    }
    if ((old && old->version <= dt_session_version(d)) ||
        dt_type_own(d, DT_TYPE_TYPEDEF, r->name)) {
        dt_fail(d, r->location, "D_DECL_IDRED", "identifier redeclared: %s", r->name);
    }
    if (kind == DT_TYPE_VOID || kind == DT_TYPE_FUNCTION) {
        dt_fail(d, r->location, "D_DECL_VOIDOBJ", "cannot declare void or function inline: %s",
                r->name);
    }
    struct dt_ident *i = dt_alloc(d, sizeof(*i));
    *i = (struct dt_ident){.name = r->name, .kind = DT_IDENT_INLINE, .type = type};
    i->flags = DT_IDENT_DECLARED;
    i->attributes = (struct dt_attributes_short){DTRACE_STABLE, DTRACE_STABLE, DTRACE_COMMON};
    if (parameters) {
        add_parameters(p, i, parameters);
    }
    dt_specs_end(p);
    return i;
}

void dt_inline_end(struct dt_parse *p, struct dt_ident *i, struct dt_node *value)
{
    i->inline_body = value;
    p->names.n = 0;
    dt_target_of_inline(p, i);
    dt_inline_check(p->session, i);
    dt_ident_insert(p->session, p->session->globals, i);
}

struct dt_translator *dt_translator_begin(struct dt_parse *p, struct dt_location location,
                                          const struct dt_type *output, const struct dt_type *input,
                                          const char *name)
{
    struct dt_session *d = p->session;
    struct dt_translator *t = dt_alloc(d, sizeof(*t));
    struct dt_ident *i = dt_alloc(d, sizeof(*i));

    *i = (struct dt_ident){.name = name, .kind = DT_IDENT_XLATOR, .type = input};
    *t = (struct dt_translator){.output = output,
                                .input = input,
                                .input_name = name,
                                .input_ident = i,
                                .location = location};
    declare_hide_name(p, name);
    return t;
}

void dt_translator_member(struct dt_parse *p, struct dt_translator *t, struct dt_location location,
                          const char *name, struct dt_node *value)
{
    struct dt_member_value *m = dt_alloc(p->session, sizeof(*m)), **end = &t->members;

    dt_target_refuse(p, value);
    *m = (struct dt_member_value){.name = name, .value = value, .location = location};
    while (*end) {
        end = &(*end)->next;
    }
    *end = m;
    if (value->depth > p->session->translators_depth) {
        p->session->translators_depth = value->depth;
    }
}

void dt_translator_end(struct dt_parse *p, struct dt_translator *t)
{
    struct dt_session *d = p->session;

    p->names.n = 0;
    dt_translator_check(d, t);
    *d->translators_end = t;
    d->translators_end = &t->next;
}

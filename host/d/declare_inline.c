/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inlines and translators: parsed here, checked and expanded by the back end.
 */
#include "host/d/type_name.h"

#include <string.h>

static void hide(struct d_parse *p, const char *name)
{
    d_room(p->session, &p->names, sizeof(const char *));
    ((const char **)p->names.data)[p->names.n++] = name;
}

static void add_parameters(struct d_parse *p, struct d_ident *i, const struct d_parameters *list)
{
    unsigned n = 0;

    for (const struct d_parameter *x = list->first; x; x = x->next) {
        n++;
    }
    i->inline_parameters = d_alloc(p->session, (n + 1) * sizeof(*i->inline_parameters));
    for (const struct d_parameter *x = list->first; x; x = x->next) {
        struct d_ident *parameter = d_alloc(p->session, sizeof(*parameter));
        if (!x->name) {
            d_fail(p->session, x->place, "D_SYNTAX", "an inline's parameters need names");
        }
        *parameter = (struct d_ident){.name = x->name, .kind = D_IDENT_XLATOR, .type = x->type};
        i->inline_parameters[i->ninline_parameters++] = parameter;
        hide(p, x->name);
    }
}

/* The ident is not yet known by its name: an inline can't mean itself. */
struct d_ident *d_inline_begin(struct d_parse *p, const struct d_declarator *r)
{
    struct d_session *d = p->session;
    const struct d_parameters *parameters = NULL;
    const struct d_type *type = d_declared_type(p, r, &parameters);
    const struct d_ident *old = d_ident_lookup(d->globals, r->name);
    enum d_type_kind kind = d_type_resolve(type)->kind;

    if (p->scope->specs.storage != D_STORAGE_NONE) {
        d_fail(d, r->place, "D_DECL_BADCLASS", "an inline has no storage class");
    }
    if (strchr(r->name, '`')) {
        d_fail(d, r->place, "D_DECL_SCOPE", "a declared name can't have a `: %s", r->name);
    }
    if ((old && old->version <= d_session_version(d)) || d_type_own(d, D_TYPE_TYPEDEF, r->name)) {
        d_fail(d, r->place, "D_DECL_IDRED", "identifier redeclared: %s", r->name);
    }
    if (kind == D_TYPE_VOID || kind == D_TYPE_FUNCTION) {
        d_fail(d, r->place, "D_DECL_VOIDOBJ", "an inline can't be void or a function");
    }
    struct d_ident *i = d_alloc(d, sizeof(*i));
    *i = (struct d_ident){.name = r->name, .kind = D_IDENT_INLINE, .type = type};
    i->flags = D_IDENT_DECLARED;
    i->attributes = (struct d_attributes_short){D_STABLE, D_STABLE, D_COMMON};
    if (parameters) {
        add_parameters(p, i, parameters);
    }
    d_specs_end(p);
    return i;
}

void d_inline_end(struct d_parse *p, struct d_ident *i, struct d_node *value)
{
    i->inline_body = value;
    p->names.n = 0;
    d_inline_check(p->session, i);
    d_ident_insert(p->session, p->session->globals, i);
}

struct d_translator *d_translator_begin(struct d_parse *p, struct d_place place,
                                        const struct d_type *output, const struct d_type *input,
                                        const char *name)
{
    struct d_session *d = p->session;
    struct d_translator *t = d_alloc(d, sizeof(*t));
    struct d_ident *i = d_alloc(d, sizeof(*i));

    *i = (struct d_ident){.name = name, .kind = D_IDENT_XLATOR, .type = input};
    *t = (struct d_translator){
        .output = output, .input = input, .input_name = name, .input_ident = i, .place = place};
    hide(p, name);
    return t;
}

void d_translator_member(struct d_parse *p, struct d_translator *t, struct d_place place,
                         const char *name, struct d_node *value)
{
    struct d_member_value *m = d_alloc(p->session, sizeof(*m)), **end = &t->members;

    *m = (struct d_member_value){.name = name, .value = value, .place = place};
    while (*end) {
        end = &(*end)->next;
    }
    *end = m;
    if (value->depth > p->session->translators_depth) {
        p->session->translators_depth = value->depth;
    }
}

void d_translator_end(struct d_parse *p, struct d_translator *t)
{
    struct d_session *d = p->session;

    p->names.n = 0;
    d_translator_check(d, t);
    *d->translators_end = t;
    d->translators_end = &t->next;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inlines and translators: parsed here, checked and expanded by the back end.
 */
#include "host/dt/check/check.h"
#include "host/dt/syntax/parse.h"

#include <string.h>

static void hide(struct dt_parse *p, const char *name)
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
            dt_fail(p->session, x->place, "D_SYNTAX", "inline parameter requires a name");
        }
        *parameter = (struct dt_ident){.name = x->name, .kind = DT_IDENT_XLATOR, .type = x->type};
        i->inline_parameters[i->ninline_parameters++] = parameter;
        hide(p, x->name);
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
        dt_fail(d, r->place, "D_DECL_BADCLASS", "invalid storage class for inline");
    }
    if (strchr(r->name, '`')) {
        dt_fail(d, r->place, "D_DECL_SCOPE",
                "scoping operator (`) may not be used in a declared name: %s", r->name);
    }
    if ((old && old->version <= dt_session_version(d)) ||
        dt_type_own(d, DT_TYPE_TYPEDEF, r->name)) {
        dt_fail(d, r->place, "D_DECL_IDRED", "identifier redeclared: %s", r->name);
    }
    if (kind == DT_TYPE_VOID || kind == DT_TYPE_FUNCTION) {
        dt_fail(d, r->place, "D_DECL_VOIDOBJ", "cannot declare void or function inline: %s",
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
    dt_inline_check(p->session, i);
    dt_ident_insert(p->session, p->session->globals, i);
}

struct dt_translator *dt_translator_begin(struct dt_parse *p, struct dt_place place,
                                          const struct dt_type *output, const struct dt_type *input,
                                          const char *name)
{
    struct dt_session *d = p->session;
    struct dt_translator *t = dt_alloc(d, sizeof(*t));
    struct dt_ident *i = dt_alloc(d, sizeof(*i));

    *i = (struct dt_ident){.name = name, .kind = DT_IDENT_XLATOR, .type = input};
    *t = (struct dt_translator){
        .output = output, .input = input, .input_name = name, .input_ident = i, .place = place};
    hide(p, name);
    return t;
}

void dt_translator_member(struct dt_parse *p, struct dt_translator *t, struct dt_place place,
                          const char *name, struct dt_node *value)
{
    struct dt_member_value *m = dt_alloc(p->session, sizeof(*m)), **end = &t->members;

    *m = (struct dt_member_value){.name = name, .value = value, .place = place};
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scopes of declarations and their specifiers: storage class, qualifiers and the base type.
 */
#include "host/d/type_name.h"

void d_scope_push(struct d_parse *p)
{
    struct d_scope *s = d_alloc(p->session, sizeof(*s));

    s->outer = p->scope;
    p->scope = s;
}

void d_scope_pop(struct d_parse *p)
{
    p->scope = p->scope->outer;
}

static struct d_specs *begin(struct d_parse *p, struct d_place place)
{
    struct d_specs *s = &p->scope->specs;

    if (!s->begun) {
        *s = (struct d_specs){.begun = true, .place = place};
    }
    return s;
}

void d_specs_end(struct d_parse *p)
{
    p->scope->specs = (struct d_specs){0};
}

void d_spec_storage(struct d_parse *p, struct d_place place, enum d_storage storage)
{
    struct d_specs *s = begin(p, place);

    if (s->storage != D_STORAGE_NONE) {
        d_fail(p->session, place, "D_DECL_CLASS",
               "only one storage class allowed in a declaration");
    }
    s->storage = storage;
}

void d_spec_flag(struct d_parse *p, struct d_place place, unsigned flag)
{
    struct d_specs *s = begin(p, place);

    if (flag == D_SPEC_LONG && (s->flags & D_SPEC_LONG_LONG)) {
        d_fail(p->session, place, "D_UNKNOWN", "there is no long long long");
    }
    if (flag == D_SPEC_LONG && (s->flags & D_SPEC_LONG)) {
        s->flags &= ~(unsigned)D_SPEC_LONG;
        flag = D_SPEC_LONG_LONG;
    }
    s->flags |= flag;
}

void d_spec_base(struct d_parse *p, struct d_place place, enum d_base base,
                 const struct d_type *type, bool is_tag)
{
    struct d_specs *s = begin(p, place);

    if (s->base != D_BASE_NONE) {
        d_fail(p->session, place, "D_DECL_COMBO", "invalid type combination: is a ; missing?");
    }
    s->base = base;
    s->type = type;
    s->is_tag = is_tag;
}

void d_spec_named(struct d_parse *p, struct d_place place, const char *text)
{
    const char *object;
    const char *name = d_name_split(p->session, text, &object);
    const struct d_type *type = d_type_find(p->session, object, D_TYPE_TYPEDEF, name);

    if (!type) {
        d_fail(p->session, place, "D_SYNTAX", "%s is no type", text);
    }
    d_spec_base(p, place, D_BASE_TYPE, type, false);
}

/* Words that don't go with the base type. */
static void check_flags(struct d_parse *p, const struct d_specs *s)
{
    unsigned sign = s->flags & (D_SPEC_SIGNED | D_SPEC_UNSIGNED), size = s->flags & D_SPEC_SIZES;

    if (s->base == D_BASE_CHAR && size) {
        d_fail(p->session, s->place, "D_DECL_CHARATTR",
               "invalid type declaration: char may not be short or long");
    }
    if (s->base == D_BASE_VOID && (size || sign)) {
        d_fail(p->session, s->place, "D_DECL_VOIDATTR",
               "invalid type declaration: attributes may not be used with void type");
    }
    if (sign && s->base > D_BASE_INT) {
        d_fail(p->session, s->place, "D_DECL_SIGNINT",
               "invalid type declaration: signed and unsigned may only be used with integer type");
    }
    if (size && s->base == D_BASE_TYPE) {
        d_fail(p->session, s->place, "D_DECL_LONGINT",
               "invalid type declaration: short and long may only be used with integer base type");
    }
}

const struct d_type *d_specs_type(struct d_parse *p)
{
    struct d_specs *s = &p->scope->specs;
    const struct d_type *type = s->type;

    check_flags(p, s);
    if (s->base != D_BASE_TYPE) {
        type = d_type_arithmetic(p->session, s->base, s->flags);
    }
    if (!type) {
        d_fail(p->session, s->place, "D_UNKNOWN", "there is no such type");
    }
    return d_type_qualify(p->session, type, s->flags);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scopes of declarations and their specifiers: storage class, qualifiers and the base type.
 */
#include "host/dt/syntax/parse.h"

void dt_scope_push(struct dt_parse *p)
{
    struct dt_scope *s = dt_alloc(p->session, sizeof(*s));

    s->outer = p->scope;
    p->scope = s;
}

void dt_scope_pop(struct dt_parse *p)
{
    p->scope = p->scope->outer;
}

static struct dt_specs *decl_begin_scope(struct dt_parse *p, struct dt_location location)
{
    struct dt_specs *s = &p->scope->specs;

    if (!s->begun) {
        *s = (struct dt_specs){.begun = true, .location = location};
    }
    return s;
}

void dt_specs_end(struct dt_parse *p)
{
    p->scope->specs = (struct dt_specs){0};
}

void dt_spec_storage(struct dt_parse *p, struct dt_location location, enum dt_storage storage)
{
    struct dt_specs *s = decl_begin_scope(p, location);

    if (s->storage != DT_STORAGE_NONE) {
        dt_fail(p->session, location, "D_DECL_CLASS",
                "only one storage class allowed in a declaration");
    }
    s->storage = storage;
}

void dt_spec_flag(struct dt_parse *p, struct dt_location location, unsigned flag)
{
    struct dt_specs *s = decl_begin_scope(p, location);

    if (flag == DT_SPEC_LONG && (s->flags & DT_SPEC_LONG_LONG)) {
        dt_fail(p->session, location, "D_UNKNOWN", "'long long long' is too long");
    }
    if (flag == DT_SPEC_LONG && (s->flags & DT_SPEC_LONG)) {
        s->flags &= ~(unsigned)DT_SPEC_LONG;
        flag = DT_SPEC_LONG_LONG;
    }
    s->flags |= flag;
}

void dt_spec_base(struct dt_parse *p, struct dt_location location, enum dt_base base,
                  const struct dt_type *type, bool is_tag)
{
    struct dt_specs *s = decl_begin_scope(p, location);

    if (s->base != DT_BASE_NONE) {
        dt_fail(p->session, location, "D_DECL_COMBO",
                "invalid type combination (is a ';' missing?)");
    }
    s->base = base;
    s->type = type;
    s->is_tag = is_tag;
}

void dt_spec_named(struct dt_parse *p, struct dt_location location, const char *text)
{
    const char *object;
    const char *name = dt_name_split(p->session, text, &object);
    const struct dt_type *type = dt_type_find(p->session, object, DT_TYPE_TYPEDEF, name);

    if (!type) {
        dt_fail(p->session, location, "D_SYNTAX", "unknown type name '%s'", text);
    }
    dt_spec_base(p, location, DT_BASE_TYPE, type, false);
}

/* Words that don't go with the base type. */
static void check_flags(struct dt_parse *p, const struct dt_specs *s)
{
    unsigned sign = s->flags & (DT_SPEC_SIGNED | DT_SPEC_UNSIGNED), size = s->flags & DT_SPEC_SIZES;

    if (s->base == DT_BASE_CHAR && size) {
        dt_fail(p->session, s->location, "D_DECL_CHARATTR",
                "invalid type declaration: char may not be short or long");
    }
    if (s->base == DT_BASE_VOID && (size || sign)) {
        dt_fail(p->session, s->location, "D_DECL_VOIDATTR",
                "invalid type declaration: attributes may not be used with void type");
    }
    if (sign && s->base > DT_BASE_INT) {
        dt_fail(p->session, s->location, "D_DECL_SIGNINT",
                "invalid type declaration: signed and unsigned may only be used with integer type");
    }
    if (size && s->base == DT_BASE_TYPE) {
        dt_fail(p->session, s->location, "D_DECL_LONGINT",
                "invalid type declaration: short and long may only be used with integer base type");
    }
}

const struct dt_type *dt_specs_type(struct dt_parse *p)
{
    struct dt_specs *s = &p->scope->specs;
    const struct dt_type *type = s->type;

    check_flags(p, s);
    if (s->base != DT_BASE_TYPE) {
        type = dt_type_arithmetic(p->session, s->base, s->flags);
    }
    if (!type) {
        dt_fail(p->session, s->location, "D_UNKNOWN", "invalid combination of type specifiers");
    }
    return dt_type_qualify(p->session, type, s->flags);
}

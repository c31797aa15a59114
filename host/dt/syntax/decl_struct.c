/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs and unions: bodies, members, bit-fields, tags that are only named.
 */
#include "host/dt/syntax/parse.h"

#include <string.h>

/* A new, still incomplete type; its tag is entered, so that members can point to it. */
static struct dt_type *decl_struct_forward_type(struct dt_session *d, enum dt_type_kind kind,
                                                const char *tag)
{
    struct dt_type *f = dt_alloc(d, sizeof(*f));

    *f = (struct dt_type){.kind = DT_TYPE_FORWARD, .tag_kind = kind, .name = tag, .align = 1};
    if (tag) {
        dt_type_enter(d, kind, tag, f);
    }
    return f;
}

static struct dt_type *define_tag(struct dt_parse *p, struct dt_location location,
                                  enum dt_type_kind kind, const char *tag)
{
    struct dt_type *own = tag ? dt_type_own(p->session, kind, tag) : NULL;
    const struct dt_scope *body = own ? p->scope : NULL; /* in which it is being defined */

    while (body && body->type != own) {
        body = body->outer;
    }
    if (p->in_heading) {
        dt_fail(p->session, location, "D_SYNTAX", "translator types must be enclosed in < >");
    }
    if (tag && strchr(tag, '`')) {
        dt_fail(p->session, location, "D_SYNTAX",
                "scoping operator (`) may not be used in the definition of a tag");
    }
    if (own && (own->kind != DT_TYPE_FORWARD || own->completed || body)) {
        dt_fail(p->session, location, "D_DECL_TYPERED", "type redeclared: %s",
                dt_type_full_text(p->session, own));
    }
    return own ? own : decl_struct_forward_type(p->session, kind, tag);
}

const struct dt_type *dt_struct_by_tag(struct dt_parse *p, struct dt_location location,
                                       enum dt_type_kind kind, const char *tag)
{
    const char *object;
    const char *name = dt_name_split(p->session, tag, &object);
    const struct dt_type *type = dt_type_find(p->session, object, kind, name);

    if (!type && object) {
        dt_fail(p->session, location, "D_UNKNOWN",
                "failed to resolve type %s`%s: Unknown type name", object, name);
    }
    return type ? type : decl_struct_forward_type(p->session, kind, name);
}

static struct dt_scope *decl_struct_begin_scope(struct dt_parse *p, struct dt_location location,
                                                enum dt_type_kind kind, const char *tag)
{
    struct dt_type *type = define_tag(p, location, kind, tag);

    dt_scope_push(p);
    p->scope->type = type;
    return p->scope;
}

void dt_struct_begin(struct dt_parse *p, struct dt_location location, enum dt_type_kind kind,
                     const char *tag)
{
    decl_struct_begin_scope(p, location, kind, tag)->layout.is_union = kind == DT_TYPE_UNION;
}

void dt_enum_begin(struct dt_parse *p, struct dt_location location, const char *tag)
{
    decl_struct_begin_scope(p, location, DT_TYPE_ENUM, tag);
}

/* ---- members ----------------------------------------------------------------------- */

/* The members of an anonymous one count as ours. */
static void check_names(struct dt_parse *p, struct dt_location location, const char *name,
                        const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);
    struct dt_type so_far = {
        .kind = DT_TYPE_STRUCT, .members = p->scope->members, .nmembers = p->scope->type->nmembers};
    uint64_t at;

    if (name && dt_type_member(&so_far, name, &at)) {
        dt_fail(p->session, location, "D_UNKNOWN", "duplicate member '%s'", name);
    }
    for (unsigned i = 0; !name && dt_type_is_struct(t) && i < t->nmembers; i++) {
        check_names(p, location, t->members[i].name, t->members[i].type);
    }
}

static void decl_struct_add_member(struct dt_parse *p, struct dt_location location,
                                   const char *name, const struct dt_type *type, uint32_t bits)
{
    struct dt_scope *s = p->scope;

    check_names(p, location, name, type);
    uint64_t at = dt_layout_add(&s->layout, type, bits);
    if (s->layout.end > INT64_MAX / 8) {
        dt_fail(p->session, location, "D_DECL_ARRBIG", "type too large");
    }
    if (bits && !name) {
        return; /* an unnamed bit-field takes room, no more */
    }
    unsigned n = s->type->nmembers++;
    if (n == s->room) {
        unsigned room = s->room ? s->room * 2 : 8;
        struct dt_member *members = dt_alloc(p->session, room * sizeof(*members));
        if (n) {
            memcpy(members, s->members, n * sizeof(*members));
        }
        s->members = members;
        s->room = room;
    }
    s->members[n] = (struct dt_member){.name = name, .type = type, .bit_offset = at};
}

static void check_member(struct dt_parse *p, struct dt_location location, const char *name,
                         const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);

    if (name && strchr(name, '`')) {
        dt_fail(p->session, location, "D_DECL_SCOPE",
                "scoping operator (`) may not be used in a member's name: %s", name);
    }
    if (t->kind == DT_TYPE_VOID || t->kind == DT_TYPE_FUNCTION) {
        dt_fail(p->session, location, "D_DECL_VOIDOBJ", "cannot have %s member: %s",
                t->kind == DT_TYPE_VOID ? "void" : "function", name ? name : "");
    }
    if (t->kind == DT_TYPE_FORWARD) {
        dt_fail(p->session, location, "D_DECL_INCOMPLETE", "member %s has incomplete type: %s",
                name ? name : "", dt_type_full_text(p->session, type));
    }
    if (t->kind == DT_TYPE_ARRAY && t->count == 0) {
        dt_fail(p->session, location, "D_DECL_ARRNULL",
                "array declaration requires array dimension: %s", name ? name : "");
    }
}

/* An integer type of so many bits. */
static const struct dt_type *bit_field(struct dt_parse *p, struct dt_location location,
                                       const struct dt_type *type, struct dt_node *width)
{
    uint64_t bits = dt_positive_constant(p, width, "D_DECL_BFCONST");
    const struct dt_type *t = dt_type_resolve(type);

    if (t->kind != DT_TYPE_INTEGER) {
        dt_fail(p->session, location, "D_DECL_BFTYPE",
                "invalid type for bit-field: integer type required");
    }
    if (bits > t->size * 8) {
        dt_fail(p->session, location, "D_DECL_BFSIZE", "bit-field too big for type");
    }
    struct dt_type field = *t;
    field.bits = (uint32_t)bits;
    return bits == t->size * 8 ? type : dt_type_new(p->session, &field);
}

void dt_struct_member(struct dt_parse *p, struct dt_location location,
                      const struct dt_declarator *r, struct dt_node *width)
{
    const char *name = r ? r->name : NULL;
    const struct dt_type *type = dt_declared_type(p, r, NULL);
    uint32_t bits = 0;

    if (p->scope->specs.storage != DT_STORAGE_NONE) {
        dt_fail(p->session, location, "D_SYNTAX",
                "storage class not appropriate for a struct or union member");
    }
    if (width) {
        type = bit_field(p, location, type, width);
        bits = dt_type_resolve(type)->bits;
    }
    check_member(p, location, name, type);
    decl_struct_add_member(p, location, name, type, bits);
}

/* struct { struct { int a; }; int b; }: its members count as the outer one's. */
void dt_struct_anonymous(struct dt_parse *p, struct dt_location location)
{
    const struct dt_type *type = dt_specs_type(p);

    if (!dt_type_is_struct(type) || dt_type_resolve(type)->name) {
        dt_fail(p->session, location, "D_SYNTAX", "struct or union member requires a name");
    }
    decl_struct_add_member(p, location, NULL, type, 0);
}

/* Completes the type of the scope, which ends. */
static struct dt_type *decl_struct_complete_type(struct dt_parse *p, enum dt_type_kind kind)
{
    struct dt_type *f = p->scope->type, *t = dt_alloc(p->session, sizeof(*t));

    *t = *f;
    t->kind = kind;
    f->completed = t;
    if (t->name) {
        dt_type_enter(p->session, kind, t->name, t);
    }
    return t;
}

const struct dt_type *dt_struct_end(struct dt_parse *p)
{
    struct dt_scope *s = p->scope;
    struct dt_type *t = decl_struct_complete_type(p, s->type->tag_kind);

    t->members = s->members;
    t->size = dt_layout_size(&s->layout);
    t->align = s->layout.align ? s->layout.align : 1;
    dt_scope_pop(p);
    return t;
}

const struct dt_type *dt_enum_end(struct dt_parse *p)
{
    struct dt_scope *s = p->scope;
    struct dt_type *t = decl_struct_complete_type(p, DT_TYPE_ENUM);

    t->enumerators = s->enumerators;
    t->size = t->align = p->session->model->int_;
    t->is_signed = true;
    dt_scope_pop(p);
    return t;
}

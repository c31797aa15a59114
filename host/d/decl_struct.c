/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs and unions: bodies, members, bit-fields, tags that are only named.
 */
#include "host/d/type_name.h"

#include <string.h>

/* A new, still incomplete type; its tag is entered, so that members can point to it. */
static struct d_type *forward(struct d_session *d, enum d_type_kind kind, const char *tag)
{
    struct d_type *f = d_alloc(d, sizeof(*f));

    *f = (struct d_type){.kind = D_TYPE_FORWARD, .tag_kind = kind, .name = tag, .align = 1};
    if (tag) {
        d_type_enter(d, kind, tag, f);
    }
    return f;
}

static bool is_being_defined(const struct d_parse *p, const struct d_type *type)
{
    const struct d_scope *s = p->scope;

    while (s && s->type != type) {
        s = s->outer;
    }
    return s != NULL;
}

static struct d_type *define_tag(struct d_parse *p, struct d_place place, enum d_type_kind kind,
                                 const char *tag)
{
    struct d_type *own = tag ? d_type_own(p->session, kind, tag) : NULL;

    if (p->in_heading) {
        d_fail(p->session, place, "D_SYNTAX", "a translator's types stand in < and >");
    }
    if (tag && strchr(tag, '`')) {
        d_fail(p->session, place, "D_SYNTAX", "a tag that is defined can't have a `");
    }
    if (own && (own->kind != D_TYPE_FORWARD || own->completed || is_being_defined(p, own))) {
        d_fail(p->session, place, "D_DECL_TYPERED", "type redeclared: %s",
               d_type_full_text(p->session, own));
    }
    return own ? own : forward(p->session, kind, tag);
}

const struct d_type *d_struct_by_tag(struct d_parse *p, struct d_place place, enum d_type_kind kind,
                                     const char *tag)
{
    const char *object;
    const char *name = d_name_split(p->session, tag, &object);
    const struct d_type *type = d_type_find(p->session, object, kind, name);

    if (!type && object) {
        d_fail(p->session, place, "D_UNKNOWN", "%s has no type of this name: %s", object, name);
    }
    return type ? type : forward(p->session, kind, name);
}

static struct d_scope *begin(struct d_parse *p, struct d_place place, enum d_type_kind kind,
                             const char *tag)
{
    struct d_type *type = define_tag(p, place, kind, tag);

    d_scope_push(p);
    p->scope->type = type;
    return p->scope;
}

void d_struct_begin(struct d_parse *p, struct d_place place, enum d_type_kind kind, const char *tag)
{
    begin(p, place, kind, tag)->layout.is_union = kind == D_TYPE_UNION;
}

void d_enum_begin(struct d_parse *p, struct d_place place, const char *tag)
{
    begin(p, place, D_TYPE_ENUM, tag);
}

/* ---- members -----------------------------------------------------------------------------------
 */

static bool has_member(const struct d_scope *s, const char *name)
{
    struct d_type t = {.kind = D_TYPE_STRUCT, .members = s->members, .nmembers = s->type->nmembers};
    uint64_t at;

    return name && d_type_member(&t, name, &at);
}

/* The members of an anonymous one count as ours. */
static void check_names(struct d_parse *p, struct d_place place, const char *name,
                        const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    if (has_member(p->scope, name)) {
        d_fail(p->session, place, "D_UNKNOWN", "there is a member %s already", name);
    }
    for (unsigned i = 0; !name && d_type_is_struct(t) && i < t->nmembers; i++) {
        check_names(p, place, t->members[i].name, t->members[i].type);
    }
}

static struct d_member *room_for_member(struct d_session *d, struct d_scope *s)
{
    if (s->type->nmembers == s->room) {
        unsigned room = s->room ? s->room * 2 : 8;
        struct d_member *members = d_alloc(d, room * sizeof(*members));
        if (s->type->nmembers) {
            memcpy(members, s->members, s->type->nmembers * sizeof(*members));
        }
        s->members = members;
        s->room = room;
    }
    return &s->members[s->type->nmembers++];
}

static void add(struct d_parse *p, struct d_place place, const char *name,
                const struct d_type *type, uint32_t bits)
{
    struct d_scope *s = p->scope;

    check_names(p, place, name, type);
    uint64_t at = d_layout_add(&s->layout, type, bits);
    if (s->layout.end > INT64_MAX / 8) {
        d_fail(p->session, place, "D_DECL_ARRBIG", "type too large");
    }
    if (bits && !name) {
        return; /* an unnamed bit-field takes room, no more */
    }
    *room_for_member(p->session, s) =
        (struct d_member){.name = name, .type = type, .bit_offset = at};
}

static void check_member(struct d_parse *p, struct d_place place, const char *name,
                         const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    if (name && strchr(name, '`')) {
        d_fail(p->session, place, "D_DECL_SCOPE", "a member's name can't have a `: %s", name);
    }
    if (t->kind == D_TYPE_VOID || t->kind == D_TYPE_FUNCTION) {
        d_fail(p->session, place, "D_DECL_VOIDOBJ", "member %s can't be %s", name ? name : "",
               t->kind == D_TYPE_VOID ? "void" : "a function");
    }
    if (t->kind == D_TYPE_FORWARD) {
        d_fail(p->session, place, "D_DECL_INCOMPLETE", "member %s is of an incomplete type: %s",
               name ? name : "", d_type_full_text(p->session, type));
    }
    if (t->kind == D_TYPE_ARRAY && t->count == 0) {
        d_fail(p->session, place, "D_DECL_ARRNULL", "member %s has no size", name ? name : "");
    }
}

/* An integer type of so many bits. */
static const struct d_type *bit_field(struct d_parse *p, struct d_place place,
                                      const struct d_type *type, struct d_node *width)
{
    uint64_t bits = d_positive_constant(p, width, "D_DECL_BFCONST");
    const struct d_type *t = d_type_resolve(type);

    if (t->kind != D_TYPE_INTEGER) {
        d_fail(p->session, place, "D_DECL_BFTYPE",
               "invalid type for bit-field: integer type required");
    }
    if (bits > t->size * 8) {
        d_fail(p->session, place, "D_DECL_BFSIZE", "bit-field too big for type");
    }
    struct d_type field = *t;
    field.bits = (uint32_t)bits;
    return bits == t->size * 8 ? type : d_type_new(p->session, &field);
}

void d_struct_member(struct d_parse *p, struct d_place place, const struct d_declarator *r,
                     struct d_node *width)
{
    const char *name = r ? r->name : NULL;
    const struct d_type *type = d_declared_type(p, r, NULL);
    uint32_t bits = 0;

    if (p->scope->specs.storage != D_STORAGE_NONE) {
        d_fail(p->session, place, "D_SYNTAX", "a member has no storage class");
    }
    if (width) {
        type = bit_field(p, place, type, width);
        bits = d_type_resolve(type)->bits;
    }
    check_member(p, place, name, type);
    add(p, place, name, type, bits);
}

/* struct { struct { int a; }; int b; }: its members count as the outer one's. */
void d_struct_anonymous(struct d_parse *p, struct d_place place)
{
    const struct d_type *type = d_specs_type(p);

    if (!d_type_is_struct(type) || d_type_resolve(type)->name) {
        d_fail(p->session, place, "D_SYNTAX", "a member has no name");
    }
    add(p, place, NULL, type, 0);
}

/* Completes the type of the scope, which ends. */
static struct d_type *complete(struct d_parse *p, enum d_type_kind kind)
{
    struct d_type *f = p->scope->type, *t = d_alloc(p->session, sizeof(*t));

    *t = *f;
    t->kind = kind;
    f->completed = t;
    if (t->name) {
        d_type_enter(p->session, kind, t->name, t);
    }
    return t;
}

const struct d_type *d_struct_end(struct d_parse *p)
{
    struct d_scope *s = p->scope;
    struct d_type *t = complete(p, s->type->tag_kind);

    t->members = s->members;
    t->size = d_layout_size(&s->layout);
    t->align = s->layout.align ? s->layout.align : 1;
    d_scope_pop(p);
    return t;
}

const struct d_type *d_enum_end(struct d_parse *p)
{
    struct d_scope *s = p->scope;
    struct d_type *t = complete(p, D_TYPE_ENUM);

    t->enumerators = s->enumerators;
    t->size = t->align = p->session->model->int_;
    t->is_signed = true;
    d_scope_pop(p);
    return t;
}

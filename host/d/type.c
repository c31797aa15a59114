/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions about types.
 */
#include "host/d/type.h"

#include <string.h>

const struct d_type *d_type_resolve(const struct d_type *t)
{
    for (;;) {
        switch (t->kind) {
        case D_TYPE_TYPEDEF:
        case D_TYPE_CONST:
        case D_TYPE_VOLATILE:
        case D_TYPE_RESTRICT:
            t = t->to;
            break;
        case D_TYPE_FORWARD:
            if (!t->completed) {
                return t;
            }
            t = t->completed;
            break;
        default:
            return t;
        }
    }
}

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* "signed int" is "int", "signed char" is not "char". */
static const char *integer_name(const struct d_type *t)
{
    return t->name && !t->is_char && strncmp(t->name, "signed ", 7) == 0 ? t->name + 7 : t->name;
}

/* Two definitions of one struct, say in two ELFs: members with the same names and places. */
static bool same_members(const struct d_type *a, const struct d_type *b)
{
    if (a->size != b->size || a->nmembers != b->nmembers) {
        return false;
    }
    for (unsigned i = 0; i < a->nmembers; i++) {
        if (!same_name(a->members[i].name, b->members[i].name) ||
            a->members[i].bit_offset != b->members[i].bit_offset) {
            return false;
        }
    }
    return true;
}

static bool same_functions(const struct d_type *a, const struct d_type *b)
{
    if (a->nmembers != b->nmembers || a->varargs != b->varargs || !d_type_same(a->to, b->to)) {
        return false;
    }
    for (unsigned i = 0; i < a->nmembers; i++) {
        if (!d_type_same(a->members[i].type, b->members[i].type)) {
            return false;
        }
    }
    return true;
}

static bool same_tagged(const struct d_type *a, const struct d_type *b)
{
    enum d_type_kind p = a->kind == D_TYPE_FORWARD ? a->tag_kind : a->kind;
    enum d_type_kind q = b->kind == D_TYPE_FORWARD ? b->tag_kind : b->kind;

    if (p != q || !a->name || !same_name(a->name, b->name)) {
        return false;
    }
    return a->kind != b->kind || a->kind == D_TYPE_FORWARD || same_members(a, b);
}

bool d_type_same(const struct d_type *x, const struct d_type *y)
{
    const struct d_type *a = d_type_resolve(x), *b = d_type_resolve(y);

    if (a == b) {
        return true;
    }
    if (a->kind == D_TYPE_FORWARD || b->kind == D_TYPE_FORWARD) {
        return same_tagged(a, b);
    }
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case D_TYPE_INTEGER:
        return a->size == b->size && a->bits == b->bits && a->is_signed == b->is_signed &&
               same_name(integer_name(a), integer_name(b));
    case D_TYPE_FLOAT:
        return a->size == b->size && same_name(a->name, b->name);
    case D_TYPE_POINTER:
        return d_type_same(a->to, b->to);
    case D_TYPE_ARRAY:
        return a->count == b->count && d_type_same(a->to, b->to);
    case D_TYPE_FUNCTION:
        return same_functions(a, b);
    case D_TYPE_STRUCT:
    case D_TYPE_UNION:
    case D_TYPE_ENUM:
        return same_tagged(a, b);
    default:
        return true;
    }
}

static const struct d_member *find_member(const struct d_type *t, const char *name,
                                          uint64_t *bit_offset, unsigned depth)
{
    for (unsigned i = 0; i < t->nmembers; i++) {
        const struct d_member *m = &t->members[i];
        if (same_name(m->name, name)) {
            *bit_offset = m->bit_offset;
            return m;
        }
        const struct d_type *inner = m->name || depth == 0 ? NULL : d_type_resolve(m->type);
        if (inner && d_type_is_struct(inner)) {
            const struct d_member *found = find_member(inner, name, bit_offset, depth - 1);
            if (found) {
                *bit_offset += m->bit_offset;
                return found;
            }
        }
    }
    return NULL;
}

const struct d_member *d_type_member(const struct d_type *type, const char *name,
                                     uint64_t *bit_offset)
{
    enum { DEPTH_MAX = 64 };

    const struct d_type *t = d_type_resolve(type);

    return d_type_is_struct(t) ? find_member(t, name, bit_offset, DEPTH_MAX) : NULL;
}

static enum d_type_kind kind_of(const struct d_type *t)
{
    return d_type_resolve(t)->kind;
}

bool d_type_is_integer(const struct d_type *t)
{
    return kind_of(t) == D_TYPE_INTEGER || kind_of(t) == D_TYPE_ENUM;
}

bool d_type_is_arithmetic(const struct d_type *t)
{
    return d_type_is_integer(t) || kind_of(t) == D_TYPE_FLOAT;
}

bool d_type_is_pointer(const struct d_type *t)
{
    return kind_of(t) == D_TYPE_POINTER || kind_of(t) == D_TYPE_ARRAY;
}

bool d_type_is_scalar(const struct d_type *t)
{
    return d_type_is_arithmetic(t) || kind_of(t) == D_TYPE_POINTER;
}

bool d_type_is_string(const struct d_type *t)
{
    return kind_of(t) == D_TYPE_STRING;
}

bool d_type_is_string_like(const struct d_type *t)
{
    const struct d_type *r = d_type_resolve(t);

    if (r->kind == D_TYPE_STRING) {
        return true;
    }
    if (r->kind != D_TYPE_POINTER && r->kind != D_TYPE_ARRAY) {
        return false;
    }
    const struct d_type *to = d_type_resolve(r->to);
    return to->kind == D_TYPE_INTEGER && to->size == 1 && to->is_char && to->bits == 8;
}

bool d_type_is_struct(const struct d_type *t)
{
    return kind_of(t) == D_TYPE_STRUCT || kind_of(t) == D_TYPE_UNION;
}

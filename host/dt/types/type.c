/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions about types.
 */
#include "host/dt/type.h"

#include <string.h>

const struct dt_type *dt_type_resolve(const struct dt_type *t)
{
    for (;;) {
        switch (t->kind) {
        case DT_TYPE_TYPEDEF:
        case DT_TYPE_CONST:
        case DT_TYPE_VOLATILE:
        case DT_TYPE_RESTRICT:
            t = t->to;
            break;
        case DT_TYPE_FORWARD:
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

static bool type_same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* "signed int" is "int", "signed char" is not "char". */
static const char *integer_name(const struct dt_type *t)
{
    return t->name && !t->is_char && strncmp(t->name, "signed ", 7) == 0 ? t->name + 7 : t->name;
}

static bool same_tagged(const struct dt_type *a, const struct dt_type *b)
{
    enum dt_type_kind p = a->kind == DT_TYPE_FORWARD ? a->tag_kind : a->kind;
    enum dt_type_kind q = b->kind == DT_TYPE_FORWARD ? b->tag_kind : b->kind;

    if (p != q || !a->name || !type_same_name(a->name, b->name)) {
        return false;
    }
    if (a->kind != b->kind || a->kind == DT_TYPE_FORWARD) {
        return true;
    }
    /* Two definitions of one struct, say in two ELFs: members with the same names and locations. */
    if (a->size != b->size || a->nmembers != b->nmembers) {
        return false;
    }
    for (unsigned i = 0; i < a->nmembers; i++) {
        if (!type_same_name(a->members[i].name, b->members[i].name) ||
            a->members[i].bit_offset != b->members[i].bit_offset) {
            return false;
        }
    }
    return true;
}

bool dt_type_same(const struct dt_type *x, const struct dt_type *y)
{
    const struct dt_type *a = dt_type_resolve(x), *b = dt_type_resolve(y);

    if (a == b) {
        return true;
    }
    if (a->kind == DT_TYPE_FORWARD || b->kind == DT_TYPE_FORWARD) {
        return same_tagged(a, b);
    }
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case DT_TYPE_INTEGER:
        return a->size == b->size && a->bits == b->bits && a->is_signed == b->is_signed &&
               type_same_name(integer_name(a), integer_name(b));
    case DT_TYPE_FLOAT:
        return a->size == b->size && type_same_name(a->name, b->name);
    case DT_TYPE_POINTER:
        return dt_type_same(a->to, b->to);
    case DT_TYPE_ARRAY:
        return a->count == b->count && dt_type_same(a->to, b->to);
    case DT_TYPE_FUNCTION:
        if (a->nmembers != b->nmembers || a->varargs != b->varargs || !dt_type_same(a->to, b->to)) {
            return false;
        }
        for (unsigned i = 0; i < a->nmembers; i++) {
            if (!dt_type_same(a->members[i].type, b->members[i].type)) {
                return false;
            }
        }
        return true;
    case DT_TYPE_STRUCT:
    case DT_TYPE_UNION:
    case DT_TYPE_ENUM:
        return same_tagged(a, b);
    default:
        return true;
    }
}

static const struct dt_member *type_find_member(const struct dt_type *t, const char *name,
                                                uint64_t *bit_offset, unsigned depth)
{
    for (unsigned i = 0; i < t->nmembers; i++) {
        const struct dt_member *m = &t->members[i];
        if (type_same_name(m->name, name)) {
            *bit_offset = m->bit_offset;
            return m;
        }
        const struct dt_type *inner = m->name || depth == 0 ? NULL : dt_type_resolve(m->type);
        if (inner && dt_type_is_struct(inner)) {
            const struct dt_member *found = type_find_member(inner, name, bit_offset, depth - 1);
            if (found) {
                *bit_offset += m->bit_offset;
                return found;
            }
        }
    }
    return NULL;
}

const struct dt_member *dt_type_member(const struct dt_type *type, const char *name,
                                       uint64_t *bit_offset)
{
    enum { DEPTH_MAX = 64 };

    const struct dt_type *t = dt_type_resolve(type);

    return dt_type_is_struct(t) ? type_find_member(t, name, bit_offset, DEPTH_MAX) : NULL;
}

static enum dt_type_kind type_kind_of(const struct dt_type *t)
{
    return dt_type_resolve(t)->kind;
}

bool dt_type_is_integer(const struct dt_type *t)
{
    return type_kind_of(t) == DT_TYPE_INTEGER || type_kind_of(t) == DT_TYPE_ENUM;
}

bool dt_type_is_arithmetic(const struct dt_type *t)
{
    return dt_type_is_integer(t) || type_kind_of(t) == DT_TYPE_FLOAT;
}

bool dt_type_is_pointer(const struct dt_type *t)
{
    return type_kind_of(t) == DT_TYPE_POINTER || type_kind_of(t) == DT_TYPE_ARRAY;
}

bool dt_type_is_scalar(const struct dt_type *t)
{
    return dt_type_is_arithmetic(t) || type_kind_of(t) == DT_TYPE_POINTER;
}

bool dt_type_is_string(const struct dt_type *t)
{
    return type_kind_of(t) == DT_TYPE_STRING;
}

bool dt_type_is_string_like(const struct dt_type *t)
{
    const struct dt_type *r = dt_type_resolve(t);

    if (r->kind == DT_TYPE_STRING) {
        return true;
    }
    if (r->kind != DT_TYPE_POINTER && r->kind != DT_TYPE_ARRAY) {
        return false;
    }
    const struct dt_type *to = dt_type_resolve(r->to);
    return to->kind == DT_TYPE_INTEGER && to->size == 1 && to->is_char && to->bits == 8;
}

bool dt_type_is_struct(const struct dt_type *t)
{
    return type_kind_of(t) == DT_TYPE_STRUCT || type_kind_of(t) == DT_TYPE_UNION;
}

uint32_t dt_type_width(const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);

    return t->kind == DT_TYPE_INTEGER && t->bits ? t->bits : (uint32_t)t->size * 8;
}

bool dt_type_is_signed(const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);

    return t->kind == DT_TYPE_ENUM || (t->kind == DT_TYPE_INTEGER && t->is_signed);
}

bool dt_type_is_bit_field(const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);

    return t->kind == DT_TYPE_INTEGER && t->bits && t->bits < t->size * 8;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What types become in expressions: C's promotions and conversions as D has them, and which values
 * pass where a type is wanted.
 */
#include "host/d/back.h"

const struct d_type *d_promote(struct d_session *d, const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);
    const struct d_type *i = d_type_basic(d, D_BASIC_INT);

    if (t->kind == D_TYPE_ENUM) {
        return i;
    }
    if (t->kind != D_TYPE_INTEGER) {
        return type;
    }
    uint32_t bits = t->bits ? t->bits : (uint32_t)t->size * 8;
    if (bits < i->size * 8) {
        return i;
    }
    if (bits < t->size * 8) { /* a wide bit-field */
        return d_type_basic(d, bits > i->size * 8 ? (t->is_signed ? D_BASIC_INT64 : D_BASIC_UINT64)
                               : t->is_signed     ? D_BASIC_INT
                                                  : D_BASIC_UINT);
    }
    return type;
}

/* C's usual arithmetic conversions. Of two types of one size the unsigned one wins. */
const struct d_type *d_usual(struct d_session *d, const struct d_type *a, const struct d_type *b)
{
    const struct d_type *x = d_promote(d, a), *y = d_promote(d, b);
    const struct d_type *p = d_type_resolve(x), *q = d_type_resolve(y);

    if (p->size != q->size) {
        return p->size > q->size ? x : y;
    }
    return p->is_signed && !q->is_signed ? y : x;
}

int64_t d_normalize(const struct d_type *type, uint64_t value)
{
    const struct d_type *t = d_type_resolve(type);
    uint64_t bits = t->kind == D_TYPE_INTEGER && t->bits ? t->bits : t->size * 8;

    if (bits == 0 || bits >= 64) {
        return (int64_t)value;
    }
    unsigned shift = 64 - (unsigned)bits;
    bool is_signed = t->kind == D_TYPE_ENUM || t->is_signed;
    return is_signed ? (int64_t)(value << shift) >> shift : (int64_t)(value << shift >> shift);
}

static bool is_by_reference(const struct d_type *t)
{
    switch (t->kind) {
    case D_TYPE_STRING:
    case D_TYPE_STRUCT:
    case D_TYPE_UNION:
    case D_TYPE_ARRAY:
    case D_TYPE_FUNCTION:
        return true;
    default:
        return false;
    }
}

void d_set_type(struct d_node *n, const struct d_type *type)
{
    n->type = type;
    n->is_ref = is_by_reference(d_type_resolve(type));
}

bool d_node_is_string(const struct d_node *n)
{
    return d_type_is_string(n->type);
}

bool d_node_is_null(const struct d_node *n)
{
    return n->kind == D_NODE_INT && n->value == 0;
}

static bool pointers_compatible(const struct d_type *to, const struct d_type *from)
{
    const struct d_type *p = d_type_resolve(to->to), *q = d_type_resolve(from->to);

    return p->kind == D_TYPE_VOID || q->kind == D_TYPE_VOID || d_type_same(p, q) ||
           (p->kind == D_TYPE_INTEGER && q->kind == D_TYPE_INTEGER && p->size == q->size);
}

/* As D has it: integers and pointers pass for each other, strings only for strings. */
bool d_compatible(const struct d_node *from, const struct d_type *to)
{
    const struct d_type *p = d_type_resolve(to), *q = d_type_resolve(from->type);

    if (p->kind == D_TYPE_DYNAMIC || q->kind == D_TYPE_DYNAMIC) {
        return p->kind == q->kind;
    }
    if (d_type_is_string(q) && p->kind == D_TYPE_POINTER) {
        const struct d_type *to_what = d_type_resolve(p->to);
        return to_what->kind == D_TYPE_VOID || d_type_is_string_like(p);
    }
    if (d_type_is_string(p) || d_type_is_string(q)) {
        return (d_type_is_string_like(p) && d_type_is_string_like(q)) ||
               (d_type_is_string(p) && d_node_is_null(from));
    }
    if (d_type_is_struct(p) || d_type_is_struct(q)) {
        return d_type_same(p, q);
    }
    if (d_type_is_arithmetic(p) && d_type_is_arithmetic(q)) {
        return p->kind != D_TYPE_FLOAT || q->kind == D_TYPE_FLOAT;
    }
    if (d_type_is_pointer(p) && d_type_is_pointer(q)) {
        return pointers_compatible(p, q);
    }
    return (d_type_is_integer(p) && d_type_is_pointer(q)) ||
           (d_type_is_pointer(p) && d_type_is_integer(q));
}

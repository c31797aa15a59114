/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types in expressions: C's promotions and conversions as in D, and which values are accepted where
 * a type is expected.
 */
#include "host/dt/check/check.h"

const struct dt_type *dt_promote(struct dt_session *d, const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);
    const struct dt_type *i = dt_type_basic(d, DT_BASIC_INT);

    if (t->kind == DT_TYPE_ENUM) {
        return i;
    }
    if (t->kind != DT_TYPE_INTEGER) {
        return type;
    }
    uint32_t bits = t->bits ? t->bits : (uint32_t)t->size * 8;
    if (bits < i->size * 8) {
        return i;
    }
    if (bits < t->size * 8) { /* a wide bit-field */
        return dt_type_basic(d, bits > i->size * 8
                                    ? (t->is_signed ? DT_BASIC_INT64 : DT_BASIC_UINT64)
                                : t->is_signed ? DT_BASIC_INT
                                               : DT_BASIC_UINT);
    }
    return type;
}

/* C's usual arithmetic conversions. Of two types of one size the unsigned one wins. */
const struct dt_type *dt_usual(struct dt_session *d, const struct dt_type *a,
                               const struct dt_type *b)
{
    const struct dt_type *x = dt_promote(d, a), *y = dt_promote(d, b);
    const struct dt_type *p = dt_type_resolve(x), *q = dt_type_resolve(y);

    if (p->size != q->size) {
        return p->size > q->size ? x : y;
    }
    return p->is_signed && !q->is_signed ? y : x;
}

int64_t dt_normalize(const struct dt_type *type, uint64_t value)
{
    const struct dt_type *t = dt_type_resolve(type);
    uint64_t bits = t->kind == DT_TYPE_INTEGER && t->bits ? t->bits : t->size * 8;

    if (bits == 0 || bits >= 64) {
        return (int64_t)value;
    }
    unsigned shift = 64 - (unsigned)bits;
    bool is_signed = t->kind == DT_TYPE_ENUM || t->is_signed;
    return is_signed ? (int64_t)(value << shift) >> shift : (int64_t)(value << shift >> shift);
}

bool dt_node_is_string(const struct dt_node *n)
{
    return dt_type_is_string(n->type);
}

bool dt_node_is_null(const struct dt_node *n)
{
    return n->kind == DT_NODE_INT && n->value == 0;
}

static bool pointers_compatible(const struct dt_type *to, const struct dt_type *from)
{
    const struct dt_type *p = dt_type_resolve(to->to), *q = dt_type_resolve(from->to);

    return p->kind == DT_TYPE_VOID || q->kind == DT_TYPE_VOID || dt_type_same(p, q) ||
           (p->kind == DT_TYPE_INTEGER && q->kind == DT_TYPE_INTEGER && p->size == q->size);
}

/* As D has it: integers and pointers pass for each other, strings only for strings. */
bool dt_compatible(const struct dt_node *from, const struct dt_type *to)
{
    const struct dt_type *p = dt_type_resolve(to), *q = dt_type_resolve(from->type);

    if (p->kind == DT_TYPE_DYNAMIC || q->kind == DT_TYPE_DYNAMIC) {
        return p->kind == q->kind;
    }
    if (dt_type_is_string(q) && p->kind == DT_TYPE_POINTER) {
        const struct dt_type *to_what = dt_type_resolve(p->to);
        return to_what->kind == DT_TYPE_VOID || dt_type_is_string_like(p);
    }
    if (dt_type_is_string(p) || dt_type_is_string(q)) {
        return (dt_type_is_string_like(p) && dt_type_is_string_like(q)) ||
               (dt_type_is_string(p) && dt_node_is_null(from));
    }
    if (dt_type_is_struct(p) || dt_type_is_struct(q)) {
        return dt_type_same(p, q);
    }
    if (dt_type_is_arithmetic(p) && dt_type_is_arithmetic(q)) {
        return p->kind != DT_TYPE_FLOAT || q->kind == DT_TYPE_FLOAT;
    }
    if (dt_type_is_pointer(p) && dt_type_is_pointer(q)) {
        return pointers_compatible(p, q);
    }
    return (dt_type_is_integer(p) && dt_type_is_pointer(q)) ||
           (dt_type_is_pointer(p) && dt_type_is_integer(q));
}

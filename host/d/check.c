/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives every node of an expression its type and meaning ("cooks" it). Cooking twice does nothing,
 * so trees may share cooked parts.
 */
#include "host/d/back.h"

#include <string.h>

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

unsigned d_list_length(const struct d_node *list)
{
    unsigned n = 0;

    for (; list; list = list->next) {
        n++;
    }
    return n;
}

struct d_ident *d_variable_lookup(struct d_session *d, const char *scope, const char *name)
{
    if (!scope) {
        struct d_ident *ident = d_ident_lookup(d_session_globals(d), name);
        bool later = ident && ident->version > d_session_version(d);
        return later ? NULL : ident; /* the name is free under an older version= */
    }
    if (strcmp(scope, "self") == 0) {
        return d_ident_lookup(d_session_threads(d), name);
    }
    if (strcmp(scope, "this") == 0) {
        return d_ident_lookup(d_session_locals(d), name);
    }
    return NULL;
}

static bool is_variable_scope(const char *scope)
{
    return !scope || strcmp(scope, "self") == 0 || strcmp(scope, "this") == 0;
}

void d_use(struct d_session *d, const struct d_ident *ident)
{
    struct d_clause *clause = d_session_back(d)->clause;

    if (!clause) {
        return;
    }
    struct d_attributes_short *least = &clause->attributes;
    const struct d_attributes_short *a = &ident->attributes;
    least->name = a->name < least->name ? a->name : least->name;
    least->data = a->data < least->data ? a->data : least->data;
    least->class = a->class < least->class ? a->class : least->class;
}

static void become_enumerator(struct d_session *d, struct d_node *n, int64_t value)
{
    n->kind = D_NODE_INT;
    n->value = (uint64_t)value;
    n->is_constant = true;
    d_set_type(n, d_type_basic(d, D_BASIC_INT));
}

static void check_symbol(struct d_session *d, struct d_node *n)
{
    const struct d_type *type = NULL;
    uint64_t address;
    int64_t value;

    if (d_enumerator_lookup(d, n->scope, n->text, &value)) {
        become_enumerator(d, n, value);
        return;
    }
    if (!d_symbol_lookup(d, n->scope, n->text, &address, &type) || !type) {
        d_fail(d, n->place, "D_IDENT_UNDEF", "no symbol %s`%s is known", n->scope, n->text);
    }
    struct d_ident *ident = d_alloc(d, sizeof(*ident));
    *ident =
        (struct d_ident){.name = n->text, .kind = D_IDENT_SYMBOL, .type = type, .address = address};
    n->kind = D_NODE_IDENT;
    n->ident = ident;
    n->is_lvalue = true;
    d_set_type(n, type);
}

static void check_variable(struct d_node *n, struct d_ident *ident)
{
    n->kind = D_NODE_IDENT;
    n->ident = ident;
    n->is_lvalue = true;
    n->is_writable = (ident->flags & D_IDENT_WRITE) != 0;
    d_set_type(n, ident->type);
}

static void check_known_name(struct d_session *d, struct d_node *n, struct d_ident *ident)
{
    ident->flags |= D_IDENT_USED;
    d_use(d, ident);
    switch (ident->kind) {
    case D_IDENT_ENUMERATOR:
        become_enumerator(d, n, ident->value);
        return;
    case D_IDENT_INLINE:
        if (ident->ninline_parameters) {
            d_fail(d, n->place, "D_IDENT_BADREF", "inline %s wants its arguments in [ ]", n->text);
        }
        d_inline_expand(d, n, ident, NULL);
        return;
    case D_IDENT_SCALAR:
    case D_IDENT_XLATOR:
        if (!ident->type) {
            d_fail(d, n->place, "D_IDENT_UNDEF", "%s has no value yet", n->text);
        }
        check_variable(n, ident);
        return;
    default:
        d_fail(d, n->place, "D_IDENT_BADREF", "%s can't stand alone: it is %s", n->text,
               ident->kind == D_IDENT_ARRAY ? "an array" : "a function");
    }
}

static void check_name(struct d_session *d, struct d_node *n)
{
    if (!is_variable_scope(n->scope)) {
        check_symbol(d, n);
        return;
    }
    struct d_ident *ident = d_variable_lookup(d, n->scope, n->text);
    int64_t value;
    if (!ident && !n->scope && d_enumerator_lookup(d, NULL, n->text, &value)) {
        become_enumerator(d, n, value);
        return;
    }
    if (!ident) {
        d_fail(d, n->place, "D_IDENT_UNDEF", "%s%s%s: unknown variable", n->scope ? n->scope : "",
               n->scope ? "->" : "", n->text);
    }
    check_known_name(d, n, ident);
}

/* Actions in ?: are wrong, but their own faults come first. */
static void refuse_action(struct d_session *d, struct d_node *n)
{
    if (d_type_resolve(n->type)->kind != D_TYPE_DYNAMIC) {
        return;
    }
    if (n->kind == D_NODE_CALL && n->ident->kind == D_IDENT_ACTION) {
        d_action_try(d, n);
    }
    d_fail(d, n->place, "D_OP_ACT", "?: can't choose between actions");
}

static void check_ternary(struct d_session *d, struct d_node *n)
{
    const struct d_type *l, *r;

    d_check_expression(d, n->left);
    if (!d_type_is_scalar(n->left->type)) {
        d_fail(d, n->place, "D_OP_SCALAR", "the condition of ?: must be a number or a pointer");
    }
    l = d_check_expression(d, n->right);
    r = d_check_expression(d, n->third);
    refuse_action(d, n->right);
    refuse_action(d, n->third);
    if (d_type_is_arithmetic(l) && d_type_is_arithmetic(r)) {
        d_set_type(n, d_usual(d, l, r));
    } else if (d_type_is_string_like(l) && d_type_is_string_like(r)) {
        d_set_type(n, d_type_basic(d, D_BASIC_STRING));
    } else if (d_compatible(n->third, l)) {
        d_set_type(n, l);
    } else if (d_compatible(n->right, r)) {
        d_set_type(n, r);
    } else {
        d_fail(d, n->place, "D_OP_INCOMPAT", "the two values of ?: have types that do not agree");
    }
    d_fold(d, n);
}

static void check_cast(struct d_session *d, struct d_node *n)
{
    const struct d_type *to = d_type_resolve(n->type), *from;
    const struct d_type *wanted = n->type;

    from = d_type_resolve(d_check_expression(d, n->left));
    bool scalar = d_type_is_scalar(to) || to->kind == D_TYPE_VOID;
    bool string = d_type_is_string(to);
    bool from_ok = d_type_is_scalar(from) || d_type_is_string(from) || d_type_is_pointer(from);
    from_ok = from_ok && !(n->left->kind == D_NODE_XLATE && from->kind == D_TYPE_POINTER);
    if (to->kind == D_TYPE_FLOAT || from->kind == D_TYPE_FLOAT || (!scalar && !string) ||
        !from_ok || (string && !d_type_is_string_like(from) && !d_type_is_integer(from)) ||
        (d_type_is_string(from) && !string && !d_type_is_pointer(to) && !d_type_is_integer(to))) {
        d_fail(d, n->place, "D_CAST_INVAL", "can't cast to this type");
    }
    d_set_type(n, wanted);
    n->is_lvalue = false;
    if (string) {
        n->is_ref = true;
    }
    d_fold(d, n);
}

static void check_comma(struct d_session *d, struct d_node *n)
{
    d_check_expression(d, n->left);
    d_set_type(n, d_check_expression(d, n->right));
}

static void check_agg_use(struct d_session *d, struct d_node *n)
{
    if (!d_agg_lookup(d, n)) {
        d_fail(d, n->place, "D_IDENT_UNDEF", "aggregation @%s is never assigned", n->text);
    }
    for (struct d_node *key = n->args; key; key = key->next) {
        d_check_expression(d, key);
    }
    d_set_type(n, d_type_basic(d, D_BASIC_DYNAMIC));
}

static void check_operator(struct d_session *d, struct d_node *n)
{
    switch (n->op) {
    case '=':
    case D_OP_ADD_SET ... D_OP_SHR_SET:
        d_check_assign(d, n);
        break;
    case ',':
        check_comma(d, n);
        break;
    case '.':
    case D_OP_ARROW:
        d_check_member(d, n);
        break;
    case D_OP_INDEX:
        d_check_index(d, n);
        break;
    default:
        d_check_binary(d, n);
    }
}

static void check_kind(struct d_session *d, struct d_node *n)
{
    switch (n->kind) {
    case D_NODE_STRING:
        d_set_type(n, d_type_basic(d, D_BASIC_STRING));
        break;
    case D_NODE_NAME:
        check_name(d, n);
        break;
    case D_NODE_CALL:
        d_check_call(d, n);
        break;
    case D_NODE_UNARY:
        d_check_unary(d, n);
        break;
    case D_NODE_BINARY:
        check_operator(d, n);
        break;
    case D_NODE_TERNARY:
        check_ternary(d, n);
        break;
    case D_NODE_SIZEOF:
    case D_NODE_OFFSETOF:
    case D_NODE_STRINGOF:
        d_check_size(d, n);
        break;
    case D_NODE_AGG:
        check_agg_use(d, n);
        break;
    default:
        d_fail(d, n->place, "D_SYNTAX", "this can't stand in an expression");
    }
}

/* Casts and translations have a type before they are cooked. */
const struct d_type *d_check_expression(struct d_session *d, struct d_node *n)
{
    if (n->kind == D_NODE_CAST || n->kind == D_NODE_XLATE) {
        if (!n->is_cooked) {
            n->is_cooked = true;
            (n->kind == D_NODE_CAST ? check_cast : d_xlate_check)(d, n);
        }
        return n->type;
    }
    if (n->kind == D_NODE_TYPE) {
        d_fail(d, n->place, "D_SYNTAX", "a type can't stand in an expression");
    }
    if (n->kind == D_NODE_INT) {
        n->is_constant = true;
    }
    if (!n->type) {
        check_kind(d, n);
    }
    return n->type;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives every node of an expression its type and meaning ("cooks" it). Cooking twice does nothing,
 * so trees may share cooked parts.
 */
#include "host/d/back.h"

unsigned d_list_length(const struct d_node *list)
{
    unsigned n = 0;

    for (; list; list = list->next) {
        n++;
    }
    return n;
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
    d_fail(d, n->place, "D_OP_ACT", "operator ?: may not be applied to actions");
}

static void check_ternary(struct d_session *d, struct d_node *n)
{
    const struct d_type *l, *r;

    d_check_expression(d, n->left);
    if (!d_type_is_scalar(n->left->type)) {
        d_fail(d, n->place, "D_OP_SCALAR", "operator ?: expression must be of scalar type");
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
        d_fail(d, n->place, "D_OP_INCOMPAT", "operator ?: operands must have compatible types");
    }
    d_fold(d, n);
}

/* What alloca() and copyin() return: an address that may be a string's. */
static bool is_untyped(const struct d_type *t)
{
    return t->kind == D_TYPE_POINTER && d_type_resolve(t->to)->kind == D_TYPE_VOID;
}

static void check_cast(struct d_session *d, struct d_node *n)
{
    const struct d_type *to = d_type_resolve(n->type), *from;
    const struct d_type *wanted = n->type;

    from = d_type_resolve(d_check_expression(d, n->left));
    if (d_type_is_struct(to) && d_type_same(to, from) && n->left->kind != D_NODE_XLATE) {
        d_set_type(n, wanted);
        return;
    }
    bool scalar = d_type_is_scalar(to) || to->kind == D_TYPE_VOID;
    bool string = d_type_is_string(to);
    bool from_ok = d_type_is_scalar(from) || d_type_is_string(from) || d_type_is_pointer(from);
    from_ok = from_ok && !(n->left->kind == D_NODE_XLATE && from->kind == D_TYPE_POINTER);
    if (to->kind == D_TYPE_FLOAT || from->kind == D_TYPE_FLOAT || (!scalar && !string) ||
        !from_ok ||
        (string && !d_type_is_string_like(from) && !d_type_is_integer(from) && !is_untyped(from)) ||
        (d_type_is_string(from) && !string && !d_type_is_pointer(to) && !d_type_is_integer(to))) {
        d_fail(d, n->place, "D_CAST_INVAL", "invalid cast expression: \"%s\" to \"%s\"",
               d_value_text(d, n->left), d_type_full_text(d, wanted));
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
        d_fail(d, n->place, "D_IDENT_UNDEF", "undefined aggregation: @%s", n->text);
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
        d_check_name(d, n);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives every node of an expression its type and meaning ("cooks" it). Cooking twice does nothing,
 * so trees may share cooked parts.
 */
#include "host/dt/check/check.h"

static void refuse_action(struct dt_session *d, struct dt_node *n)
{
    if (dt_type_resolve(n->type)->kind != DT_TYPE_DYNAMIC) {
        return;
    }
    dt_fail(d, n->location, "D_OP_ACT", "operator ?: may not be applied to actions");
}

static void check_ternary(struct dt_session *d, struct dt_node *n)
{
    const struct dt_type *l, *r;

    dt_check_expression(d, n->left);
    if (!dt_type_is_scalar(n->left->type)) {
        dt_fail(d, n->location, "D_OP_SCALAR", "operator ?: expression must be of scalar type");
    }
    l = dt_check_expression(d, n->right);
    r = dt_check_expression(d, n->third);
    refuse_action(d, n->right);
    refuse_action(d, n->third);
    if (dt_type_is_arithmetic(l) && dt_type_is_arithmetic(r)) {
        dt_set_type(n, dt_usual(d, l, r));
    } else if (dt_type_is_string_like(l) && dt_type_is_string_like(r)) {
        dt_set_type(n, dt_type_basic(d, DT_BASIC_STRING));
    } else if (dt_compatible(n->third, l)) {
        dt_set_type(n, l);
    } else if (dt_compatible(n->right, r)) {
        dt_set_type(n, r);
    } else {
        dt_fail(d, n->location, "D_OP_INCOMPAT", "operator ?: operands must have compatible types");
    }
    dt_fold(d, n);
}

static void check_cast(struct dt_session *d, struct dt_node *n)
{
    const struct dt_type *to = dt_type_resolve(n->type), *from;
    const struct dt_type *wanted = n->type;

    from = dt_type_resolve(dt_check_expression(d, n->left));
    if (dt_type_is_struct(to) && dt_type_same(to, from) && n->left->kind != DT_NODE_XLATE) {
        dt_set_type(n, wanted);
        return;
    }
    bool scalar = dt_type_is_scalar(to) || to->kind == DT_TYPE_VOID;
    bool string = dt_type_is_string(to);
    /* Results of alloca() and copyin(): an address that may be a string's. */
    bool untyped = from->kind == DT_TYPE_POINTER && dt_type_resolve(from->to)->kind == DT_TYPE_VOID;
    bool from_ok = dt_type_is_scalar(from) || dt_type_is_string(from) || dt_type_is_pointer(from);
    from_ok = from_ok && !(n->left->kind == DT_NODE_XLATE && from->kind == DT_TYPE_POINTER);
    if (to->kind == DT_TYPE_FLOAT || from->kind == DT_TYPE_FLOAT || (!scalar && !string) ||
        !from_ok ||
        (string && !dt_type_is_string_like(from) && !dt_type_is_integer(from) && !untyped) ||
        (dt_type_is_string(from) && !string && !dt_type_is_pointer(to) &&
         !dt_type_is_integer(to))) {
        dt_fail(d, n->location, "D_CAST_INVAL", "invalid cast expression: \"%s\" to \"%s\"",
                dt_value_text(d, n->left), dt_type_full_text(d, wanted));
    }
    dt_set_type(n, wanted);
    n->is_lvalue = false;
    if (string) {
        n->is_ref = true;
    }
    dt_fold(d, n);
}

static void check_operator(struct dt_session *d, struct dt_node *n)
{
    switch (n->op) {
    case '=':
    case DT_OP_ADD_SET ... DT_OP_SHR_SET:
        dt_check_assign(d, n);
        break;
    case ',':
        dt_check_expression(d, n->left);
        dt_set_type(n, dt_check_expression(d, n->right));
        break;
    case '.':
    case DT_OP_ARROW:
        dt_check_member(d, n);
        break;
    case DT_OP_INDEX:
        dt_check_index(d, n);
        break;
    default:
        dt_check_binary(d, n);
    }
}

static void check_kind(struct dt_session *d, struct dt_node *n)
{
    switch (n->kind) {
    case DT_NODE_STRING:
        dt_set_type(n, dt_type_basic(d, DT_BASIC_STRING));
        break;
    case DT_NODE_NAME:
        dt_check_name(d, n);
        break;
    case DT_NODE_CALL:
        dt_check_call(d, n);
        break;
    case DT_NODE_UNARY:
        dt_check_unary(d, n);
        break;
    case DT_NODE_BINARY:
        check_operator(d, n);
        break;
    case DT_NODE_TERNARY:
        check_ternary(d, n);
        break;
    case DT_NODE_SIZEOF:
    case DT_NODE_OFFSETOF:
    case DT_NODE_STRINGOF:
        dt_check_size(d, n);
        break;
    case DT_NODE_AGG:
        dt_agg_lookup(d, n);
        for (struct dt_node *key = n->args; key; key = key->next) {
            dt_check_expression(d, key);
        }
        dt_set_type(n, dt_type_basic(d, DT_BASIC_DYNAMIC));
        break;
    default:
        dt_fail(d, n->location, "D_SYNTAX", "expected an expression");
    }
}

/* Casts and translations have a type before they are cooked. */
const struct dt_type *dt_check_expression(struct dt_session *d, struct dt_node *n)
{
    if (n->kind == DT_NODE_CAST || n->kind == DT_NODE_XLATE) {
        if (!n->is_cooked) {
            n->is_cooked = true;
            (n->kind == DT_NODE_CAST ? check_cast : dt_xlate_check)(d, n);
        }
        return n->type;
    }
    if (n->kind == DT_NODE_TYPE) {
        dt_fail(d, n->location, "D_SYNTAX", "expected an expression, found a type");
    }
    if (n->kind == DT_NODE_INT) {
        n->is_constant = true;
    }
    if (!n->type) {
        check_kind(d, n);
    }
    return n->type;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arithmetic is 64 bits wide between loads and stores, whatever the operands' types: a register may
 * hold more than the type of its expression does. Where the value is stored, cast or passed it is
 * narrowed. docs/guide/d.md has the rules. Proof: test/dtrace/c_values.py.
 */
#include "host/dt/check/check.h"

bool dt_node_fits(const struct dt_node *n, const struct dt_type *to)
{
    uint32_t had = dt_type_width(n->type), has = dt_type_width(to);
    bool from_signed = dt_type_is_signed(n->type), to_signed = dt_type_is_signed(to);

    /* Every value of the one type is one of the other, with the same bits in a register. */
    return dt_node_is_exact(n) &&
           (has > had ? to_signed || !from_signed : has == had && from_signed == to_signed);
}

static bool is_exact_binary(const struct dt_node *n)
{
    switch (n->op) {
    case '+':
    case '-':
    case '*':
    case DT_OP_SHL:
        return false;
    case '/': /* the most negative number by -1 */
        if (dt_type_is_signed(n->type)) {
            return false;
        }
        break;
    case '%':
    case '&':
    case '|':
    case '^':
        break;
    case DT_OP_SHR:
        return dt_node_fits(n->left, n->type);
    case ',':
        return dt_node_is_exact(n->right);
    default:
        return true;
    }
    return dt_node_fits(n->left, n->type) && dt_node_fits(n->right, n->type);
}

bool dt_node_is_exact(const struct dt_node *n)
{
    switch (n->kind) {
    case DT_NODE_INT:
        return (uint64_t)dt_normalize(n->type, n->value) == n->value;
    case DT_NODE_UNARY:
        return n->op == DT_OP_MINUS  ? false
               : n->op == '~'        ? dt_type_is_signed(n->type) && dt_node_fits(n->left, n->type)
               : n->op == DT_OP_PLUS ? dt_node_fits(n->left, n->type)
                                     : true;
    case DT_NODE_BINARY:
        return is_exact_binary(n);
    case DT_NODE_TERNARY:
        return dt_node_fits(n->right, n->type) && dt_node_fits(n->third, n->type);
    default:
        return true;
    }
}

/* Whether the value comes from a product or a left shift with no cast over it. */
static bool is_product(const struct dt_node *n)
{
    switch (n->kind) {
    case DT_NODE_UNARY:
        return (n->op == DT_OP_MINUS || n->op == DT_OP_PLUS || n->op == '~') && is_product(n->left);
    case DT_NODE_TERNARY:
        return is_product(n->right) || is_product(n->third);
    case DT_NODE_BINARY:
        break;
    default:
        return false;
    }
    switch (n->op) {
    case '*':
    case DT_OP_SHL:
        return true;
    case '+':
    case '-':
    case '/':
    case '%':
    case '&':
    case '|':
    case '^':
    case DT_OP_SHR:
        return is_product(n->left) || is_product(n->right);
    case ',':
        return is_product(n->right);
    default:
        return false;
    }
}

const struct dt_type *dt_recorded_type(struct dt_session *d, const struct dt_node *n)
{
    if (!dt_type_is_integer(n->type) || dt_type_resolve(n->type)->size >= 8 || !is_product(n)) {
        return n->type;
    }
    return dt_type_basic(d, dt_type_is_signed(n->type) ? DT_BASIC_INT64 : DT_BASIC_UINT64);
}

struct dt_node *dt_recorded(struct dt_session *d, struct dt_node *n)
{
    const struct dt_type *type = dt_recorded_type(d, n);

    if (type == n->type) {
        return n;
    }
    struct dt_node *cast = dt_node_cast(d, n, type);
    cast->next = n->next;
    dt_check_expression(d, cast);
    return cast;
}

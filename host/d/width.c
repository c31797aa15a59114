/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arithmetic is 64 bits wide between loads and stores, whatever the operands' types: a register may
 * hold more than the type of its expression does. Where the value is stored, cast or passed it is
 * narrowed. docs/d.md has the rules. Proof: test/d/c_values.py.
 */
#include "host/d/code.h"

/* Every value of the one type is one of the other, with the same bits in a register. */
static bool type_fits(const struct d_type *from, const struct d_type *to)
{
    uint32_t had = d_gen_width(from), has = d_gen_width(to);
    bool from_signed = d_gen_is_signed(from), to_signed = d_gen_is_signed(to);

    return has > had ? to_signed || !from_signed : has == had && from_signed == to_signed;
}

static bool operand_fits(const struct d_node *operand, const struct d_type *to)
{
    return d_node_is_exact(operand) && type_fits(operand->type, to);
}

static bool is_exact_binary(const struct d_node *n)
{
    switch (n->op) {
    case '+':
    case '-':
    case '*':
    case D_OP_SHL:
        return false;
    case '/': /* the most negative number by -1 */
        if (d_gen_is_signed(n->type)) {
            return false;
        }
        break;
    case '%':
    case '&':
    case '|':
    case '^':
        break;
    case D_OP_SHR:
        return operand_fits(n->left, n->type);
    case ',':
        return d_node_is_exact(n->right);
    default:
        return true;
    }
    return operand_fits(n->left, n->type) && operand_fits(n->right, n->type);
}

bool d_node_is_exact(const struct d_node *n)
{
    switch (n->kind) {
    case D_NODE_INT:
        return (uint64_t)d_normalize(n->type, n->value) == n->value;
    case D_NODE_UNARY:
        return n->op == D_OP_MINUS  ? false
               : n->op == '~'       ? d_gen_is_signed(n->type) && operand_fits(n->left, n->type)
               : n->op == D_OP_PLUS ? operand_fits(n->left, n->type)
                                    : true;
    case D_NODE_BINARY:
        return is_exact_binary(n);
    case D_NODE_TERNARY:
        return operand_fits(n->right, n->type) && operand_fits(n->third, n->type);
    default:
        return true;
    }
}

bool d_node_fits(const struct d_node *n, const struct d_type *to)
{
    return operand_fits(n, to);
}

/* Whether the value comes from a product or a left shift with no cast over it. */
static bool is_product(const struct d_node *n)
{
    switch (n->kind) {
    case D_NODE_UNARY:
        return (n->op == D_OP_MINUS || n->op == D_OP_PLUS || n->op == '~') && is_product(n->left);
    case D_NODE_TERNARY:
        return is_product(n->right) || is_product(n->third);
    case D_NODE_BINARY:
        break;
    default:
        return false;
    }
    switch (n->op) {
    case '*':
    case D_OP_SHL:
        return true;
    case '+':
    case '-':
    case '/':
    case '%':
    case '&':
    case '|':
    case '^':
    case D_OP_SHR:
        return is_product(n->left) || is_product(n->right);
    case ',':
        return is_product(n->right);
    default:
        return false;
    }
}

const struct d_type *d_recorded_type(struct d_session *d, const struct d_node *n)
{
    if (!d_type_is_integer(n->type) || d_type_resolve(n->type)->size >= 8 || !is_product(n)) {
        return n->type;
    }
    return d_type_basic(d, d_gen_is_signed(n->type) ? D_BASIC_INT64 : D_BASIC_UINT64);
}

struct d_node *d_recorded(struct d_session *d, struct d_node *n)
{
    const struct d_type *type = d_recorded_type(d, n);

    if (type == n->type) {
        return n;
    }
    struct d_node *cast = d_node_cast(d, n, type);
    cast->next = n->next;
    d_check_expression(d, cast);
    return cast;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constant folding: an operator on integer constants becomes its value, computed as the machine
 * would, in 64 bits. The result has the type that C gives it, or, if the value doesn't fit, that of
 * a literal with its value. Division by a constant 0 is an error here, whatever the left operand
 * is.
 */
#include "host/dt/check/check.h"

static bool is_constant(const struct dt_node *n)
{
    return n && n->kind == DT_NODE_INT;
}

static void become_int(struct dt_node *n, uint64_t value)
{
    n->kind = DT_NODE_INT;
    n->value = value;
    n->is_constant = true;
    n->left = n->right = n->third = NULL;
    n->op = 0;
}

static bool is_signed(const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);

    return t->kind == DT_TYPE_ENUM || (t->kind == DT_TYPE_INTEGER && t->is_signed);
}

/* The result of an operation; type: what C computes it in. */
static void become_result(struct dt_session *d, struct dt_node *n, uint64_t value,
                          const struct dt_type *type)
{
    static const enum dt_basic wider[2][3] = {{DT_BASIC_UINT, DT_BASIC_ULONG, DT_BASIC_ULLONG},
                                              {DT_BASIC_INT, DT_BASIC_LONG, DT_BASIC_LLONG}};

    for (unsigned i = 0; i < 3 && (uint64_t)dt_normalize(type, value) != value; i++) {
        type = dt_type_basic(d, wider[is_signed(type)][i]);
    }
    dt_set_type(n, type);
    become_int(n, value);
}

static uint64_t fold_divide_values(int op, uint64_t a, uint64_t b, bool sign)
{
    if (sign && b == UINT64_MAX) { /* -1: also where the quotient has no representation */
        return op == '/' ? 0 - a : 0;
    }
    if (sign) {
        return (uint64_t)(op == '/' ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
    }
    return op == '/' ? a / b : a % b;
}

/* sign: of the type of the operands after conversion. */
static uint64_t fold_compute_value(int op, uint64_t a, uint64_t b, bool sign)
{
    switch (op) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
    case '%':
        return fold_divide_values(op, a, b, sign);
    case '&':
        return a & b;
    case '|':
        return a | b;
    case '^':
        return a ^ b;
    case DT_OP_SHL:
        return a << (b & 63);
    case DT_OP_SHR:
        return sign ? (uint64_t)((int64_t)a >> (b & 63)) : a >> (b & 63);
    case DT_OP_EQ:
        return a == b;
    case DT_OP_NE:
        return a != b;
    case '<':
        return sign ? (int64_t)a < (int64_t)b : a < b;
    case '>':
        return sign ? (int64_t)a > (int64_t)b : a > b;
    case DT_OP_LE:
        return sign ? (int64_t)a <= (int64_t)b : a <= b;
    case DT_OP_GE:
        return sign ? (int64_t)a >= (int64_t)b : a >= b;
    case DT_OP_ANDAND:
        return a && b;
    case DT_OP_OROR:
        return a || b;
    default: /* ^^ */
        return !a != !b;
    }
}

static void fold_binary(struct dt_session *d, struct dt_node *n)
{
    struct dt_node *l = n->left, *r = n->right;

    if ((n->op == '/' || n->op == '%') && is_constant(r) && r->value == 0) {
        dt_fail(d, n->location, "D_DIV_ZERO", "expression contains division by zero");
    }
    if (!is_constant(l) || !is_constant(r)) {
        return;
    }
    bool shift = n->op == DT_OP_SHL || n->op == DT_OP_SHR;
    const struct dt_type *common = shift ? dt_promote(d, l->type) : dt_usual(d, l->type, r->type);
    uint64_t value = fold_compute_value(n->op, l->value, r->value, is_signed(common));
    bool truth = dt_operator_compares(n->op) || n->op == DT_OP_ANDAND || n->op == DT_OP_OROR ||
                 n->op == DT_OP_XORXOR;
    become_result(d, n, value, truth ? n->type : common);
}

static void fold_unary(struct dt_session *d, struct dt_node *n)
{
    uint64_t value = n->left->value;

    switch (n->op) {
    case '!':
        become_int(n, value == 0);
        break;
    case '~':
        become_int(n, ~value);
        break;
    case DT_OP_PLUS:
        become_int(n, value);
        break;
    case DT_OP_MINUS: /* a negative constant without a sign is one of its type, as in C */
        value = 0 - value;
        value = is_signed(n->type) ? value : (uint64_t)dt_normalize(n->type, value);
        become_result(d, n, value, n->type);
        break;
    default:
        break;
    }
}

void dt_fold(struct dt_session *d, struct dt_node *n)
{
    switch (n->kind) {
    case DT_NODE_BINARY:
        fold_binary(d, n);
        break;
    case DT_NODE_UNARY:
        if (is_constant(n->left)) {
            fold_unary(d, n);
        }
        break;
    case DT_NODE_CAST:
        if (is_constant(n->left) && dt_type_is_integer(n->type)) {
            uint64_t value = n->left->value;
            value = dt_type_resolve(n->type)->is_bool ? value != 0 : value;
            become_int(n, (uint64_t)dt_normalize(n->type, value));
        }
        break;
    case DT_NODE_TERNARY:
        if (is_constant(n->left) && is_constant(n->right) && is_constant(n->third)) {
            become_int(n, n->left->value ? n->right->value : n->third->value);
        }
        break;
    default:
        break;
    }
}

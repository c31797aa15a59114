/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From checked trees to DIF: operators of two operands. Proof: test/d, test/d_random.
 */
#include "host/d/code.h"

static enum dif_op arithmetic_op(int op, bool sign)
{
    switch (op) {
    case '+':
        return DIF_OP_add;
    case '-':
        return DIF_OP_sub;
    case '*':
        return DIF_OP_mul;
    case '/':
        return sign ? DIF_OP_sdiv : DIF_OP_udiv;
    case '%':
        return sign ? DIF_OP_srem : DIF_OP_urem;
    case '&':
        return DIF_OP_and;
    case '|':
        return DIF_OP_or;
    case '^':
        return DIF_OP_xor;
    case D_OP_SHL:
        return DIF_OP_sll;
    default:
        return sign ? DIF_OP_sra : DIF_OP_srl;
    }
}

/* a = a op b, in 64 bits. type: says whether it is signed. */
void d_gen_operator(struct d_code *c, int op, const struct d_type *type, int a, int b)
{
    d_emit(c, DIF_RRR(arithmetic_op(op, d_gen_is_signed(type)), a, b, a));
}

void d_gen_scale(struct d_code *c, struct d_place place, int reg, uint64_t by)
{
    if (by != 1) {
        int factor = d_reg(c, place);
        d_emit_int(c, by, factor);
        d_emit(c, DIF_RRR(DIF_OP_mul, reg, factor, reg));
        d_reg_free(c, factor);
    }
}

static enum dif_op comparison_op(int op, bool sign)
{
    switch (op) {
    case D_OP_EQ:
        return DIF_OP_be;
    case D_OP_NE:
        return DIF_OP_bne;
    case '<':
        return sign ? DIF_OP_bl : DIF_OP_blu;
    case '>':
        return sign ? DIF_OP_bg : DIF_OP_bgu;
    case D_OP_LE:
        return sign ? DIF_OP_ble : DIF_OP_bleu;
    default:
        return sign ? DIF_OP_bge : DIF_OP_bgeu;
    }
}

static int gen_comparison(struct d_code *c, struct d_node *n)
{
    bool strings = d_node_is_string(n->left) || d_node_is_string(n->right);
    bool numbers = d_type_is_arithmetic(n->left->type) && d_type_is_arithmetic(n->right->type);
    const struct d_type *common =
        numbers ? d_usual(c->session, n->left->type, n->right->type) : NULL;
    int a = d_gen(c, n->left), b = d_gen(c, n->right);
    bool sign = strings || (numbers && d_gen_is_signed(common));

    d_emit(c, DIF_RRR(strings ? DIF_OP_scmp : DIF_OP_cmp, a, b, 0));
    d_gen_flag(c, comparison_op(n->op, sign), a);
    d_reg_free(c, b);
    return a;
}

/* && and ||: the right side is evaluated only if it matters. */
static int gen_short(struct d_code *c, struct d_node *n)
{
    enum dif_op decided = n->op == D_OP_ANDAND ? DIF_OP_be : DIF_OP_bne;
    unsigned out = d_label(c), end = d_label(c);
    int a = d_gen(c, n->left);

    d_emit(c, DIF_RRR(DIF_OP_tst, a, 0, 0));
    d_branch(c, decided, out);
    d_reg_free(c, a);
    int b = d_gen(c, n->right);
    d_emit(c, DIF_RRR(DIF_OP_tst, b, 0, 0));
    d_branch(c, decided, out);
    d_emit_int(c, n->op == D_OP_ANDAND, b);
    d_branch(c, DIF_OP_ba, end);
    d_label_here(c, out);
    d_emit_int(c, n->op != D_OP_ANDAND, b);
    d_label_here(c, end);
    return b;
}

static int gen_exclusive(struct d_code *c, struct d_node *n)
{
    int a = d_gen(c, n->left), b = d_gen(c, n->right);

    d_emit(c, DIF_RRR(DIF_OP_tst, a, 0, 0));
    d_gen_flag(c, DIF_OP_bne, a);
    d_emit(c, DIF_RRR(DIF_OP_tst, b, 0, 0));
    d_gen_flag(c, DIF_OP_bne, b);
    d_emit(c, DIF_RRR(DIF_OP_xor, a, b, a));
    d_reg_free(c, b);
    return a;
}

uint64_t d_gen_stride(const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);
    uint64_t size = d_type_is_pointer(t) ? d_type_resolve(t->to)->size : 1;

    return size ? size : 1;
}

static int gen_pointer_sum(struct d_code *c, struct d_node *n)
{
    bool left = d_type_is_pointer(n->left->type), right = d_type_is_pointer(n->right->type);
    int a = d_gen(c, n->left), b = d_gen(c, n->right);

    if (left && right) {
        int size = d_reg(c, n->place);
        d_emit(c, DIF_RRR(DIF_OP_sub, a, b, a));
        d_emit_int(c, d_gen_stride(n->left->type), size);
        d_emit(c, DIF_RRR(DIF_OP_sdiv, a, size, a));
        d_reg_free(c, size);
    } else {
        d_gen_scale(c, n->place, left ? b : a, d_gen_stride(left ? n->left->type : n->right->type));
        d_emit(c, DIF_RRR(n->op == '+' ? DIF_OP_add : DIF_OP_sub, a, b, a));
    }
    d_reg_free(c, b);
    return a;
}

static int gen_arithmetic(struct d_code *c, struct d_node *n)
{
    if (d_type_is_pointer(n->left->type) || d_type_is_pointer(n->right->type)) {
        return gen_pointer_sum(c, n);
    }
    int a = d_gen(c, n->left), b = d_gen(c, n->right);
    d_gen_operator(c, n->op, n->type, a, b);
    d_reg_free(c, b);
    return a;
}

int d_gen_binary(struct d_code *c, struct d_node *n)
{
    if (d_operator_compares(n->op)) {
        return gen_comparison(c, n);
    }
    switch (n->op) {
    case D_OP_ANDAND:
    case D_OP_OROR:
        return gen_short(c, n);
    case D_OP_XORXOR:
        return gen_exclusive(c, n);
    default:
        return gen_arithmetic(c, n);
    }
}

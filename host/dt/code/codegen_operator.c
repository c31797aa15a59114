/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From checked trees to DIF: operators of two operands. Proof: test/dtrace,
 * test/trace/dtrace/random.
 */
#include "host/dt/check/check.h"
#include "host/dt/code/code.h"

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
    case DT_OP_SHL:
        return DIF_OP_sll;
    default:
        return sign ? DIF_OP_sra : DIF_OP_srl;
    }
}

/* a = a op b, in 64 bits. type: says whether it is signed. */
void dt_gen_operator(struct dt_code *c, int op, const struct dt_type *type, int a, int b)
{
    dt_emit(c, DIF_RRR(arithmetic_op(op, dt_type_is_signed(type)), a, b, a));
}

void dt_gen_scale(struct dt_code *c, struct dt_location location, int reg, uint64_t by)
{
    if (by != 1) {
        int factor = dt_reg(c, location);
        dt_emit_int(c, by, factor);
        dt_emit(c, DIF_RRR(DIF_OP_mul, reg, factor, reg));
        dt_reg_free(c, factor);
    }
}

static enum dif_op comparison_op(int op, bool sign)
{
    switch (op) {
    case DT_OP_EQ:
        return DIF_OP_be;
    case DT_OP_NE:
        return DIF_OP_bne;
    case '<':
        return sign ? DIF_OP_bl : DIF_OP_blu;
    case '>':
        return sign ? DIF_OP_bg : DIF_OP_bgu;
    case DT_OP_LE:
        return sign ? DIF_OP_ble : DIF_OP_bleu;
    default:
        return sign ? DIF_OP_bge : DIF_OP_bgeu;
    }
}

/* Compares, and returns the branch that is taken if the comparison is true. */
static enum dif_op gen_compare(struct dt_code *c, struct dt_node *n)
{
    bool strings = dt_node_is_string(n->left) || dt_node_is_string(n->right);
    bool numbers = dt_type_is_arithmetic(n->left->type) && dt_type_is_arithmetic(n->right->type);
    const struct dt_type *common =
        numbers ? dt_usual(c->session, n->left->type, n->right->type) : NULL;
    int a = dt_gen(c, n->left), b = dt_gen(c, n->right);
    bool sign = strings || (numbers && dt_type_is_signed(common));

    dt_emit(c, DIF_RRR(strings ? DIF_OP_scmp : DIF_OP_cmp, a, b, 0));
    dt_reg_free(c, b);
    dt_reg_free(c, a);
    return comparison_op(n->op, sign);
}

static int gen_comparison(struct dt_code *c, struct dt_node *n)
{
    enum dif_op taken = gen_compare(c, n);
    int reg = dt_reg(c, n->location);

    dt_gen_flag(c, taken, reg);
    return reg;
}

/* The branch that is taken if the other one isn't. */
static enum dif_op codegen_opposite_branch(enum dif_op branch)
{
    static const enum dif_op opposites[] = {
        [DIF_OP_be] = DIF_OP_bne,   [DIF_OP_bne] = DIF_OP_be,   [DIF_OP_bl] = DIF_OP_bge,
        [DIF_OP_bge] = DIF_OP_bl,   [DIF_OP_bg] = DIF_OP_ble,   [DIF_OP_ble] = DIF_OP_bg,
        [DIF_OP_blu] = DIF_OP_bgeu, [DIF_OP_bgeu] = DIF_OP_blu, [DIF_OP_bgu] = DIF_OP_bleu,
        [DIF_OP_bleu] = DIF_OP_bgu};

    return opposites[branch];
}

/* && and ||: the right side is evaluated only if it matters. */
static void gen_short_jump(struct dt_code *c, struct dt_node *n, bool when, unsigned label)
{
    const bool decides = n->op == DT_OP_OROR; /* what one side alone says of the whole */
    const unsigned behind = dt_label(c);

    dt_gen_jump(c, n->left, decides, decides == when ? label : behind);
    dt_gen_jump(c, n->right, when, label);
    dt_label_here(c, behind);
}

static void gen_ternary_jump(struct dt_code *c, struct dt_node *n, bool when, unsigned label)
{
    const unsigned otherwise = dt_label(c), end = dt_label(c);

    dt_gen_jump(c, n->left, false, otherwise);
    dt_gen_jump(c, n->right, when, label);
    dt_branch(c, DIF_OP_ba, end);
    dt_label_here(c, otherwise);
    dt_gen_jump(c, n->third, when, label);
    dt_label_here(c, end);
}

void dt_gen_jump(struct dt_code *c, struct dt_node *n, bool when, unsigned label)
{
    const bool binary = n->kind == DT_NODE_BINARY;
    enum dif_op taken = DIF_OP_bne;

    if (n->kind == DT_NODE_UNARY && n->op == '!') {
        dt_gen_jump(c, n->left, !when, label);
        return;
    }
    if (binary && (n->op == DT_OP_ANDAND || n->op == DT_OP_OROR)) {
        gen_short_jump(c, n, when, label);
        return;
    }
    if (n->kind == DT_NODE_TERNARY) {
        gen_ternary_jump(c, n, when, label);
        return;
    }
    if (binary && dt_operator_compares(n->op)) {
        taken = gen_compare(c, n);
    } else {
        int reg = dt_gen(c, n);
        dt_emit(c, DIF_RRR(DIF_OP_tst, reg, 0, 0));
        dt_reg_free(c, reg);
    }
    dt_branch(c, when ? taken : codegen_opposite_branch(taken), label);
}

int dt_gen_condition(struct dt_code *c, struct dt_node *n)
{
    unsigned out = dt_label(c), end = dt_label(c);

    dt_gen_jump(c, n, false, out);
    int reg = dt_reg(c, n->location);
    dt_emit_int(c, 1, reg);
    dt_branch(c, DIF_OP_ba, end);
    dt_label_here(c, out);
    dt_emit_int(c, 0, reg);
    dt_label_here(c, end);
    return reg;
}

uint64_t dt_gen_stride(const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);
    uint64_t size = dt_type_is_pointer(t) ? dt_type_resolve(t->to)->size : 1;

    return size ? size : 1;
}

static int gen_pointer_sum(struct dt_code *c, struct dt_node *n)
{
    bool left = dt_type_is_pointer(n->left->type), right = dt_type_is_pointer(n->right->type);
    int a = dt_gen(c, n->left), b = dt_gen(c, n->right);

    if (left && right) {
        int size = dt_reg(c, n->location);
        dt_emit(c, DIF_RRR(DIF_OP_sub, a, b, a));
        dt_emit_int(c, dt_gen_stride(n->left->type), size);
        dt_emit(c, DIF_RRR(DIF_OP_sdiv, a, size, a));
        dt_reg_free(c, size);
    } else {
        dt_gen_scale(c, n->location, left ? b : a,
                     dt_gen_stride(left ? n->left->type : n->right->type));
        dt_emit(c, DIF_RRR(n->op == '+' ? DIF_OP_add : DIF_OP_sub, a, b, a));
    }
    dt_reg_free(c, b);
    return a;
}

static int gen_arithmetic(struct dt_code *c, struct dt_node *n)
{
    if (dt_type_is_pointer(n->left->type) || dt_type_is_pointer(n->right->type)) {
        return gen_pointer_sum(c, n);
    }
    int a = dt_gen(c, n->left), b = dt_gen(c, n->right);
    dt_gen_operator(c, n->op, n->type, a, b);
    dt_reg_free(c, b);
    return a;
}

int dt_gen_binary(struct dt_code *c, struct dt_node *n)
{
    if (dt_operator_compares(n->op)) {
        return gen_comparison(c, n);
    }
    switch (n->op) {
    case DT_OP_ANDAND:
    case DT_OP_OROR:
        return dt_gen_condition(c, n);
    case DT_OP_XORXOR: {
        int a = dt_gen(c, n->left), b = dt_gen(c, n->right);
        dt_emit(c, DIF_RRR(DIF_OP_tst, a, 0, 0));
        dt_gen_flag(c, DIF_OP_bne, a);
        dt_emit(c, DIF_RRR(DIF_OP_tst, b, 0, 0));
        dt_gen_flag(c, DIF_OP_bne, b);
        dt_emit(c, DIF_RRR(DIF_OP_xor, a, b, a));
        dt_reg_free(c, b);
        return a;
    }
    default:
        return gen_arithmetic(c, n);
    }
}

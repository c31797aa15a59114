/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From checked trees to DIF: every kind of node, and the object that becomes of a whole tree. What
 * registers hold: codegen_convert.c. Proof: test/d, test/d_random.
 */
#include "host/d/code.h"

static int gen_ternary(struct d_code *c, struct d_node *n)
{
    unsigned otherwise = d_label(c), end = d_label(c);
    int reg = d_gen(c, n->left);

    d_emit(c, DIF_RRR(DIF_OP_tst, reg, 0, 0));
    d_branch(c, DIF_OP_be, otherwise);
    d_reg_free(c, reg);
    int a = d_gen(c, n->right);
    d_branch(c, DIF_OP_ba, end);
    d_label_here(c, otherwise);
    d_reg_free(c, a);
    int b = d_gen(c, n->third);
    if (b != a) {
        d_emit(c, DIF_RRR(DIF_OP_mov, b, 0, a));
        d_reg_free(c, b);
        c->used |= 1u << a;
    }
    d_label_here(c, end);
    return a;
}

static int gen_unary(struct d_code *c, struct d_node *n)
{
    int reg;

    switch (n->op) {
    case D_OP_DEREF:
        reg = d_gen_address(c, n);
        d_gen_load(c, n, reg);
        return reg;
    case D_OP_ADDRESS:
        return d_gen_address(c, n->left);
    case D_OP_PREINC ... D_OP_POSTDEC:
        return d_gen_step(c, n);
    default:
        break;
    }
    reg = d_gen(c, n->left);
    switch (n->op) {
    case '!':
        d_emit(c, DIF_RRR(DIF_OP_tst, reg, 0, 0));
        d_gen_flag(c, DIF_OP_be, reg);
        break;
    case '~':
        d_emit(c, DIF_RRR(DIF_OP_not, reg, 0, reg));
        break;
    case D_OP_MINUS:
        d_emit(c, DIF_RRR(DIF_OP_sub, 0, reg, reg));
        break;
    default: /* + */
        break;
    }
    return reg;
}

static int gen_binary_node(struct d_code *c, struct d_node *n)
{
    int reg;

    switch (n->op) {
    case '=':
    case D_OP_ADD_SET ... D_OP_SHR_SET:
        return d_gen_assign(c, n);
    case ',':
        d_reg_free(c, d_gen(c, n->left));
        return d_gen(c, n->right);
    case '.':
    case D_OP_ARROW:
    case D_OP_INDEX:
        reg = d_gen_address(c, n);
        d_gen_load(c, n, reg);
        return reg;
    default:
        return d_gen_binary(c, n);
    }
}

static int gen_constant(struct d_code *c, struct d_node *n)
{
    int reg = d_reg(c, n->place);

    if (n->kind == D_NODE_STRING) {
        d_emit_string(c, n->text, reg);
    } else {
        d_emit_int(c, n->value, reg);
    }
    return reg;
}

static int gen_cast(struct d_code *c, struct d_node *n)
{
    int reg = d_gen(c, n->left);

    if (n->kind == D_NODE_CAST) {
        d_gen_convert_node(c, n->left, reg, n->type);
    }
    return reg;
}

int d_gen(struct d_code *c, struct d_node *n)
{
    switch (n->kind) {
    case D_NODE_INT:
    case D_NODE_STRING:
        return gen_constant(c, n);
    case D_NODE_IDENT:
        return d_gen_variable(c, n);
    case D_NODE_CALL:
        return d_gen_call(c, n);
    case D_NODE_UNARY:
        return gen_unary(c, n);
    case D_NODE_BINARY:
        return gen_binary_node(c, n);
    case D_NODE_TERNARY:
        return gen_ternary(c, n);
    case D_NODE_CAST:
    case D_NODE_STRINGOF:
        return gen_cast(c, n);
    case D_NODE_XLATE:
        return d_gen_translation(c, n);
    default:
        d_fail(c->session, n->place, "D_CG_EXPR", "this has no value");
    }
}

uint32_t d_object_make(struct d_session *d, struct d_program *p, struct d_node *n, bool discard)
{
    struct d_code c;
    struct dif_type result = {.kind = DIF_TYPE_CTF};

    if (d_type_resolve(n->type)->kind == D_TYPE_DYNAMIC) {
        d_fail(d, n->place, "D_CG_EXPR",
               "dynamic expression may not be used in a D expression (D program context required)");
    }
    d_code_init(d, &c, n->place);
    int reg = d_gen(&c, n);
    d_emit(&c, DIF_RRR(DIF_OP_ret, 0, 0, reg));
    if (!discard) {
        result = d_dif_type(n->type);
    }
    struct d_made_object *o = d_list_add(d, &p->objects, sizeof(*o));
    o->dif = d_code_finish(&c, result);
    o->result = n->type;
    o->var_types = c.var_types.data;
    return p->objects.n;
}

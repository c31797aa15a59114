/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From checked trees to DIF: every kind of node, a value of one type as one of another, and the
 * object that becomes of a whole tree. What was loaded, cast or passed is extended to 64 bits, by
 * its sign or by zeros; what was computed may be more than its type holds (check/width.c). Strings,
 * structs and arrays are their address. Proof: test/dtrace, test/trace/dtrace/random.
 */
#include "host/dt/check/check.h"
#include "host/dt/code/code.h"

/* ---- conversions -------------------------------------------------------------------- */

/* reg becomes 1 if the branch is taken, else 0. */
void dt_gen_flag(struct dt_code *c, enum dif_op taken, int reg)
{
    unsigned yes = dt_label(c), end = dt_label(c);

    dt_branch(c, taken, yes);
    dt_emit_int(c, 0, reg);
    dt_branch(c, DIF_OP_ba, end);
    dt_label_here(c, yes);
    dt_emit_int(c, 1, reg);
    dt_label_here(c, end);
}

void dt_gen_convert(struct dt_code *c, struct dt_location location, int reg,
                    const struct dt_type *to)
{
    if (!dt_type_is_integer(to)) {
        return;
    }
    if (dt_type_resolve(to)->is_bool) {
        dt_emit(c, DIF_RRR(DIF_OP_tst, reg, 0, 0));
        dt_gen_flag(c, DIF_OP_bne, reg);
        return;
    }
    uint32_t bits = dt_type_width(to);
    if (bits > 0 && bits < 64) { /* cut to so many bits, and extended again */
        int shift = dt_reg(c, location);
        dt_emit_int(c, 64 - bits, shift);
        dt_emit(c, DIF_RRR(DIF_OP_sll, reg, shift, reg));
        dt_emit(c, DIF_RRR(dt_type_is_signed(to) ? DIF_OP_sra : DIF_OP_srl, reg, shift, reg));
        dt_reg_free(c, shift);
    }
}

/* The value of a node in reg becomes one of that type, unless it already is. */
static void gen_convert_node(struct dt_code *c, const struct dt_node *n, int reg,
                             const struct dt_type *to)
{
    bool number = dt_type_is_integer(n->type) || dt_type_is_pointer(n->type);
    bool done =
        dt_type_resolve(to)->is_bool ? dt_type_resolve(n->type)->is_bool : dt_node_fits(n, to);

    if (number && !done) {
        dt_gen_convert(c, n->location, reg, to);
    }
}

int dt_gen_as(struct dt_code *c, struct dt_node *n, const struct dt_type *to)
{
    const struct dt_type *t = dt_type_resolve(to);

    if (n->kind == DT_NODE_INT && dt_type_is_integer(t) && !t->is_bool) {
        int reg = dt_reg(c, n->location);
        dt_emit_int(c, (uint64_t)dt_normalize(t, n->value), reg);
        return reg;
    }
    int reg = dt_gen(c, n);
    gen_convert_node(c, n, reg, to);
    return reg;
}

/* ---- nodes -------------------------------------------------------------------------- */

static int gen_ternary(struct dt_code *c, struct dt_node *n)
{
    unsigned otherwise = dt_label(c), end = dt_label(c);

    dt_gen_jump(c, n->left, false, otherwise);
    int a = dt_gen(c, n->right);
    dt_branch(c, DIF_OP_ba, end);
    dt_label_here(c, otherwise);
    dt_reg_free(c, a);
    int b = dt_gen(c, n->third);
    if (b != a) {
        dt_emit(c, DIF_RRR(DIF_OP_mov, b, 0, a));
        dt_reg_free(c, b);
        c->used |= 1u << a;
    }
    dt_label_here(c, end);
    return a;
}

static int gen_unary(struct dt_code *c, struct dt_node *n)
{
    int reg;

    switch (n->op) {
    case DT_OP_DEREF:
        reg = dt_gen_address(c, n);
        dt_gen_load(c, n, reg);
        return reg;
    case DT_OP_ADDRESS:
        return dt_gen_address(c, n->left);
    case DT_OP_PREINC ... DT_OP_POSTDEC:
        return dt_gen_step(c, n);
    case '!':
        return dt_gen_condition(c, n);
    default:
        break;
    }
    reg = dt_gen(c, n->left);
    switch (n->op) {
    case '~':
        dt_emit(c, DIF_RRR(DIF_OP_not, reg, 0, reg));
        break;
    case DT_OP_MINUS:
        dt_emit(c, DIF_RRR(DIF_OP_sub, 0, reg, reg));
        break;
    default: /* + */
        break;
    }
    return reg;
}

static int gen_binary_node(struct dt_code *c, struct dt_node *n)
{
    int reg;

    switch (n->op) {
    case '=':
    case DT_OP_ADD_SET ... DT_OP_SHR_SET:
        return dt_gen_assign(c, n);
    case ',':
        dt_reg_free(c, dt_gen(c, n->left));
        return dt_gen(c, n->right);
    case '.':
    case DT_OP_ARROW:
    case DT_OP_INDEX:
        reg = dt_gen_address(c, n);
        dt_gen_load(c, n, reg);
        return reg;
    default:
        return dt_gen_binary(c, n);
    }
}

int dt_gen(struct dt_code *c, struct dt_node *n)
{
    int reg;

    switch (n->kind) {
    case DT_NODE_INT:
        reg = dt_reg(c, n->location);
        dt_emit_int(c, n->value, reg);
        return reg;
    case DT_NODE_STRING:
        reg = dt_reg(c, n->location);
        dt_emit_string(c, n->text, reg);
        return reg;
    case DT_NODE_IDENT:
        return dt_gen_variable(c, n);
    case DT_NODE_CALL:
        return dt_gen_call(c, n);
    case DT_NODE_UNARY:
        return gen_unary(c, n);
    case DT_NODE_BINARY:
        return gen_binary_node(c, n);
    case DT_NODE_TERNARY:
        return gen_ternary(c, n);
    case DT_NODE_CAST:
        reg = dt_gen(c, n->left);
        gen_convert_node(c, n->left, reg, n->type);
        return reg;
    case DT_NODE_STRINGOF:
        return dt_gen(c, n->left);
    case DT_NODE_XLATE:
        return dt_gen_translation(c, n);
    default:
        dt_fail(c->session, n->location, "D_CG_EXPR", "expression has no value");
    }
}

uint32_t dt_object_make(struct dt_session *d, struct dt_program *p, struct dt_node *n, bool discard)
{
    struct dt_code c;
    struct dif_type result = {.kind = DIF_TYPE_CTF};

    if (dt_type_resolve(n->type)->kind == DT_TYPE_DYNAMIC) {
        dt_fail(
            d, n->location, "D_CG_EXPR",
            "dynamic expression may not be used in a D expression (D program context required)");
    }
    dt_code_init(d, &c, n->location);
    int reg = dt_gen(&c, n);
    dt_emit(&c, DIF_RRR(DIF_OP_ret, 0, 0, reg));
    if (!discard) {
        result = dt_dif_type(n->type);
    }
    struct dt_made_object *o = dt_list_add(d, &p->objects, sizeof(*o));
    o->dif = dt_code_finish(&c, result);
    o->result = n->type;
    o->var_types = c.var_types.data;
    return p->objects.n;
}

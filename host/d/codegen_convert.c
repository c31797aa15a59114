/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From checked trees to DIF: a value of one type as one of another. What was
 * loaded, cast or passed is extended to 64 bits, by its sign or by zeros; what was computed may be
 * more than its type holds (width.c). Strings, structs and arrays are their address. Proof: test/d,
 * test/d_random.
 */
#include "host/d/code.h"

uint32_t d_gen_width(const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    return t->kind == D_TYPE_INTEGER && t->bits ? t->bits : (uint32_t)t->size * 8;
}

bool d_gen_is_signed(const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    return t->kind == D_TYPE_ENUM || (t->kind == D_TYPE_INTEGER && t->is_signed);
}

/* Cuts reg to so many bits and extends it again. */
static void narrow(struct d_code *c, struct d_place place, int reg, uint32_t bits, bool sign)
{
    if (bits > 0 && bits < 64) {
        int shift = d_reg(c, place);
        d_emit_int(c, 64 - bits, shift);
        d_emit(c, DIF_RRR(DIF_OP_sll, reg, shift, reg));
        d_emit(c, DIF_RRR(sign ? DIF_OP_sra : DIF_OP_srl, reg, shift, reg));
        d_reg_free(c, shift);
    }
}

/* reg becomes 1 if the branch is taken, else 0. */
void d_gen_flag(struct d_code *c, enum dif_op taken, int reg)
{
    unsigned yes = d_label(c), end = d_label(c);

    d_branch(c, taken, yes);
    d_emit_int(c, 0, reg);
    d_branch(c, DIF_OP_ba, end);
    d_label_here(c, yes);
    d_emit_int(c, 1, reg);
    d_label_here(c, end);
}

void d_gen_convert(struct d_code *c, struct d_place place, int reg, const struct d_type *to)
{
    if (!d_type_is_integer(to)) {
        return;
    }
    if (d_type_resolve(to)->is_bool) {
        d_emit(c, DIF_RRR(DIF_OP_tst, reg, 0, 0));
        d_gen_flag(c, DIF_OP_bne, reg);
        return;
    }
    narrow(c, place, reg, d_gen_width(to), d_gen_is_signed(to));
}

void d_gen_convert_node(struct d_code *c, const struct d_node *n, int reg, const struct d_type *to)
{
    bool number = d_type_is_integer(n->type) || d_type_is_pointer(n->type);
    bool done = d_type_resolve(to)->is_bool ? d_type_resolve(n->type)->is_bool : d_node_fits(n, to);

    if (number && !done) {
        d_gen_convert(c, n->place, reg, to);
    }
}

int d_gen_as(struct d_code *c, struct d_node *n, const struct d_type *to)
{
    const struct d_type *t = d_type_resolve(to);

    if (n->kind == D_NODE_INT && d_type_is_integer(t) && !t->is_bool) {
        int reg = d_reg(c, n->place);
        d_emit_int(c, (uint64_t)d_normalize(t, n->value), reg);
        return reg;
    }
    int reg = d_gen(c, n);
    d_gen_convert_node(c, n, reg, to);
    return reg;
}

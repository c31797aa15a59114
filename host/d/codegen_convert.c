/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From checked trees to DIF: a value of one type as one of another. A register holds a value as its
 * type has it: signed ones extended by their sign to 64 bits, unsigned ones by zeros; strings,
 * structs and arrays as their address. Proof: test/d, test/d_random.
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

/* Cuts reg to so many bits and extends it again, by way of another register. */
void d_gen_narrow_by(struct d_code *c, int reg, uint32_t bits, bool sign, int shift)
{
    if (bits == 0 || bits >= 64) {
        return;
    }
    d_emit_int(c, 64 - bits, shift);
    d_emit(c, DIF_RRR(DIF_OP_sll, reg, shift, reg));
    d_emit(c, DIF_RRR(sign ? DIF_OP_sra : DIF_OP_srl, reg, shift, reg));
}

void d_gen_narrow(struct d_code *c, struct d_place place, int reg, uint32_t bits, bool sign)
{
    if (bits > 0 && bits < 64) {
        int shift = d_reg(c, place);
        d_gen_narrow_by(c, reg, bits, sign, shift);
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

void d_gen_convert(struct d_code *c, struct d_place place, int reg, const struct d_type *from,
                   const struct d_type *to)
{
    if (!d_type_is_integer(to) || !(d_type_is_integer(from) || d_type_is_pointer(from))) {
        return;
    }
    if (d_type_resolve(to)->is_bool && !d_type_resolve(from)->is_bool) {
        d_emit(c, DIF_RRR(DIF_OP_tst, reg, 0, 0));
        d_gen_flag(c, DIF_OP_bne, reg);
        return;
    }
    uint32_t had = d_gen_width(from), has = d_gen_width(to);
    bool fits = has > had ? !(d_gen_is_signed(from) && !d_gen_is_signed(to))
                          : has == had && d_gen_is_signed(from) == d_gen_is_signed(to);
    if (!fits) {
        d_gen_narrow(c, place, reg, has, d_gen_is_signed(to));
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
    d_gen_convert(c, n->place, reg, n->type, to);
    return reg;
}

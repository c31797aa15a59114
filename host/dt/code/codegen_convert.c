/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From checked trees to DIF: a value of one type as one of another. What was
 * loaded, cast or passed is extended to 64 bits, by its sign or by zeros; what was computed may be
 * more than its type holds (width.c). Strings, structs and arrays are their address. Proof: test/d,
 * test/d_random.
 */
#include "host/dt/check/check.h"
#include "host/dt/code/code.h"

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

void dt_gen_convert(struct dt_code *c, struct dt_place place, int reg, const struct dt_type *to)
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
        int shift = dt_reg(c, place);
        dt_emit_int(c, 64 - bits, shift);
        dt_emit(c, DIF_RRR(DIF_OP_sll, reg, shift, reg));
        dt_emit(c, DIF_RRR(dt_type_is_signed(to) ? DIF_OP_sra : DIF_OP_srl, reg, shift, reg));
        dt_reg_free(c, shift);
    }
}

void dt_gen_convert_node(struct dt_code *c, const struct dt_node *n, int reg,
                         const struct dt_type *to)
{
    bool number = dt_type_is_integer(n->type) || dt_type_is_pointer(n->type);
    bool done =
        dt_type_resolve(to)->is_bool ? dt_type_resolve(n->type)->is_bool : dt_node_fits(n, to);

    if (number && !done) {
        dt_gen_convert(c, n->place, reg, to);
    }
}

int dt_gen_as(struct dt_code *c, struct dt_node *n, const struct dt_type *to)
{
    const struct dt_type *t = dt_type_resolve(to);

    if (n->kind == DT_NODE_INT && dt_type_is_integer(t) && !t->is_bool) {
        int reg = dt_reg(c, n->place);
        dt_emit_int(c, (uint64_t)dt_normalize(t, n->value), reg);
        return reg;
    }
    int reg = dt_gen(c, n);
    dt_gen_convert_node(c, n, reg, to);
    return reg;
}

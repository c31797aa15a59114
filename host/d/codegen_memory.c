/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From checked trees to DIF: where a node's value lies, loads and stores, bit-fields. Proof:
 * test/d, test/d_front/layouts_test.c.
 */
#include "host/d/code.h"

static enum dif_op load_op(uint64_t size, bool sign, bool user)
{
    enum dif_op op;

    switch (size) {
    case 1:
        op = sign ? DIF_OP_ldsb : DIF_OP_ldub;
        break;
    case 2:
        op = sign ? DIF_OP_ldsh : DIF_OP_lduh;
        break;
    case 4:
        op = sign ? DIF_OP_ldsw : DIF_OP_lduw;
        break;
    default:
        op = DIF_OP_ldx;
    }
    return user ? (enum dif_op)(op + (DIF_OP_uldsb - DIF_OP_ldsb)) : op;
}

struct bit_place {
    uint64_t offset; /* bytes from the struct to the unit that holds it */
    unsigned size, shift, bits;
};

/* The smallest aligned unit that holds all of a bit-field. */
static struct bit_place bit_place(const struct d_node *n)
{
    struct bit_place p = {.bits = d_gen_width(n->member->type)};

    for (p.size = 1; p.size < 8; p.size *= 2) {
        uint64_t start = n->bit_offset / (8 * p.size) * (8 * p.size);
        if (n->bit_offset + p.bits <= start + 8 * p.size) {
            break;
        }
    }
    p.offset = n->bit_offset / (8 * p.size) * p.size;
    p.shift = (unsigned)(n->bit_offset - p.offset * 8);
    return p;
}

static bool is_bit_field(const struct d_node *n)
{
    const struct d_type *t = n->member ? d_type_resolve(n->member->type) : NULL;

    return t && t->kind == D_TYPE_INTEGER && t->bits && t->bits < t->size * 8;
}

static void add_constant(struct d_code *c, struct d_place place, int reg, uint64_t n)
{
    if (n) {
        int constant = d_reg(c, place);
        d_emit_int(c, n, constant);
        d_emit(c, DIF_RRR(DIF_OP_add, reg, constant, reg));
        d_reg_free(c, constant);
    }
}

/* base: the address of the array. */
static int gen_element_address(struct d_code *c, struct d_node *n, int base)
{
    int index = d_gen(c, n->right);

    d_gen_scale(c, n->place, index, d_gen_stride(n->left->type));
    d_emit(c, DIF_RRR(DIF_OP_add, base, index, base));
    d_reg_free(c, index);
    return base;
}

int d_gen_part_address(struct d_code *c, struct d_node *n, int base)
{
    if (n->op == D_OP_INDEX) {
        return gen_element_address(c, n, base);
    }
    add_constant(c, n->place, base, is_bit_field(n) ? bit_place(n).offset : n->bit_offset / 8);
    return base;
}

int d_gen_address(struct d_code *c, struct d_node *n)
{
    /* An element of an associative array was an INDEX before it was checked. */
    switch (n->kind == D_NODE_IDENT ? 0 : n->op) {
    case D_OP_DEREF:
        return d_gen(c, n->left);
    case '.':
    case D_OP_ARROW:
        return d_gen_part_address(c, n,
                                  n->op == '.' ? d_gen_address(c, n->left) : d_gen(c, n->left));
    case D_OP_INDEX:
        return gen_element_address(c, n, d_gen(c, n->left));
    default:
        break;
    }
    if (n->kind == D_NODE_IDENT && n->ident->kind == D_IDENT_SYMBOL) {
        int reg = d_reg(c, n->place);
        d_emit_int(c, n->ident->address, reg);
        return reg;
    }
    return d_gen(c, n); /* by reference: the value is the address */
}

/* reg: from the address of n to its value. */
void d_gen_load(struct d_code *c, struct d_node *n, int reg)
{
    const struct d_type *t = d_type_resolve(n->type);

    if (is_bit_field(n)) {
        struct bit_place p = bit_place(n);
        int shift = d_reg(c, n->place);
        d_emit(c, DIF_RRR(load_op(p.size, false, n->is_user), reg, 0, reg));
        d_emit_int(c, 64 - p.bits - p.shift, shift);
        d_emit(c, DIF_RRR(DIF_OP_sll, reg, shift, reg));
        d_emit_int(c, 64 - p.bits, shift);
        d_emit(c, DIF_RRR(d_gen_is_signed(t) ? DIF_OP_sra : DIF_OP_srl, reg, shift, reg));
        d_reg_free(c, shift);
        return;
    }
    if (!n->is_ref) {
        d_emit(c, DIF_RRR(load_op(t->size, d_gen_is_signed(t), n->is_user), reg, 0, reg));
    }
}

static void store_bits(struct d_code *c, struct d_node *n, int value, int address)
{
    static const enum dif_op ops[9] = {
        [1] = DIF_OP_stb, [2] = DIF_OP_sth, [4] = DIF_OP_stw, [8] = DIF_OP_stx};
    struct bit_place p = bit_place(n);
    uint64_t mask = (p.bits >= 64 ? UINT64_MAX : ((uint64_t)1 << p.bits) - 1) << p.shift;
    int old = d_reg(c, n->place), with = d_reg(c, n->place);

    d_emit(c, DIF_RRR(load_op(p.size, false, false), address, 0, old));
    d_emit_int(c, ~mask, with);
    d_emit(c, DIF_RRR(DIF_OP_and, old, with, old));
    d_emit_int(c, p.shift, with);
    d_emit(c, DIF_RRR(DIF_OP_sll, value, with, with));
    int bits = d_reg(c, n->place);
    d_emit_int(c, mask, bits);
    d_emit(c, DIF_RRR(DIF_OP_and, with, bits, with));
    d_emit(c, DIF_RRR(DIF_OP_or, old, with, old));
    d_emit(c, DIF_RRR(ops[p.size], old, 0, address));
    d_reg_free(c, bits);
    d_reg_free(c, with);
    d_reg_free(c, old);
}

void d_gen_store(struct d_code *c, struct d_node *n, int value, int address)
{
    const struct d_type *t = d_type_resolve(n->type);

    if (is_bit_field(n)) {
        store_bits(c, n, value, address);
    } else if (n->is_ref) {
        int size = d_reg(c, n->place);
        d_emit_int(c, t->size, size);
        d_emit(c, DIF_RRR(DIF_OP_copys, value, size, address));
        d_reg_free(c, size);
    } else {
        enum dif_op op = t->size == 1   ? DIF_OP_stb
                         : t->size == 2 ? DIF_OP_sth
                         : t->size == 4 ? DIF_OP_stw
                                        : DIF_OP_stx;
        d_emit(c, DIF_RRR(op, value, 0, address));
    }
}

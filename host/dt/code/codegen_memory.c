/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From checked trees to DIF: where a node's value lies, loads and stores, bit-fields. Proof:
 * test/dtrace, test/host/dt/layouts_test.c.
 */
#include "host/dt/code/code.h"
#include "host/dt/types/elf.h"

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

struct bit_location {
    uint64_t offset; /* bytes from the struct to the unit that holds it */
    unsigned size, shift, bits;
};

/* The smallest aligned unit that holds all of a bit-field. */
static struct bit_location bit_location(const struct dt_node *n)
{
    struct bit_location p = {.bits = dt_type_width(n->member->type)};

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

static bool is_bit_field(const struct dt_node *n)
{
    return n->member && dt_type_is_bit_field(n->member->type);
}

static void add_constant(struct dt_code *c, struct dt_location location, int reg, uint64_t n)
{
    if (n) {
        int constant = dt_reg(c, location);
        dt_emit_int(c, n, constant);
        dt_emit(c, DIF_RRR(DIF_OP_add, reg, constant, reg));
        dt_reg_free(c, constant);
    }
}

/* base: the address of the array. */
static int gen_element_address(struct dt_code *c, struct dt_node *n, int base)
{
    int index = dt_gen(c, n->right);

    dt_gen_scale(c, n->location, index, dt_gen_stride(n->left->type));
    dt_emit(c, DIF_RRR(DIF_OP_add, base, index, base));
    dt_reg_free(c, index);
    return base;
}

int dt_gen_part_address(struct dt_code *c, struct dt_node *n, int base)
{
    if (n->op == DT_OP_INDEX) {
        return gen_element_address(c, n, base);
    }
    add_constant(c, n->location, base,
                 is_bit_field(n) ? bit_location(n).offset : n->bit_offset / 8);
    return base;
}

/* A helper is for any process of its program. Where the process has the symbol is known when it
 * runs: by arg2 and arg3 (trace/dtrace/helper.h). */
static void gen_moved(struct dt_code *c, const struct dt_node *n, int reg)
{
    const struct dt_session *d = c->session;
    const bool is_text = dt_elf_is_text(d, n->ident->address);
    const struct dt_ident *by = dt_ident_lookup(d->globals, is_text ? "arg2" : "arg3");
    int more = dt_reg(c, n->location);

    dt_note_variable(c, by, DIF_FLAG_REF);
    dt_emit(c, DIF_INDEX(DIF_OP_ldgs, by->number, more));
    dt_emit(c, DIF_RRR(DIF_OP_add, reg, more, reg));
    dt_emit_int(c, UINT64_MAX >> (64 - 8 * d->model->pointer), more);
    dt_emit(c, DIF_RRR(DIF_OP_and, reg, more, reg));
    dt_reg_free(c, more);
}

int dt_gen_address(struct dt_code *c, struct dt_node *n)
{
    /* An element of an associative array was an INDEX before it was checked. */
    switch (n->kind == DT_NODE_IDENT ? 0 : n->op) {
    case DT_OP_DEREF:
        return dt_gen(c, n->left);
    case '.':
    case DT_OP_ARROW:
        return dt_gen_part_address(c, n,
                                   n->op == '.' ? dt_gen_address(c, n->left) : dt_gen(c, n->left));
    case DT_OP_INDEX:
        return gen_element_address(c, n, dt_gen(c, n->left));
    default:
        break;
    }
    if (n->kind == DT_NODE_IDENT && n->ident->kind == DT_IDENT_SYMBOL) {
        int reg = dt_reg(c, n->location);
        dt_emit_int(c, n->ident->address, reg);
        if (c->session->helper && c->session->model->moves) {
            gen_moved(c, n, reg);
        }
        return reg;
    }
    return dt_gen(c, n); /* by reference: the value is the address */
}

/* reg: from the address of n to its value. */
void dt_gen_load(struct dt_code *c, struct dt_node *n, int reg)
{
    const struct dt_type *t = dt_type_resolve(n->type);

    if (is_bit_field(n)) {
        struct bit_location p = bit_location(n);
        int shift = dt_reg(c, n->location);
        dt_emit(c, DIF_RRR(load_op(p.size, false, n->is_user), reg, 0, reg));
        dt_emit_int(c, 64 - p.bits - p.shift, shift);
        dt_emit(c, DIF_RRR(DIF_OP_sll, reg, shift, reg));
        dt_emit_int(c, 64 - p.bits, shift);
        dt_emit(c, DIF_RRR(dt_type_is_signed(t) ? DIF_OP_sra : DIF_OP_srl, reg, shift, reg));
        dt_reg_free(c, shift);
        return;
    }
    if (!n->is_ref) {
        dt_emit(c, DIF_RRR(load_op(t->size, dt_type_is_signed(t), n->is_user), reg, 0, reg));
    }
}

void dt_gen_store(struct dt_code *c, struct dt_node *n, int value, int address)
{
    const struct dt_type *t = dt_type_resolve(n->type);

    if (is_bit_field(n)) {
        static const enum dif_op ops[9] = {
            [1] = DIF_OP_stb, [2] = DIF_OP_sth, [4] = DIF_OP_stw, [8] = DIF_OP_stx};
        struct bit_location p = bit_location(n);
        uint64_t mask = (p.bits >= 64 ? UINT64_MAX : ((uint64_t)1 << p.bits) - 1) << p.shift;
        int old = dt_reg(c, n->location), with = dt_reg(c, n->location);

        dt_emit(c, DIF_RRR(load_op(p.size, false, false), address, 0, old));
        dt_emit_int(c, ~mask, with);
        dt_emit(c, DIF_RRR(DIF_OP_and, old, with, old));
        dt_emit_int(c, p.shift, with);
        dt_emit(c, DIF_RRR(DIF_OP_sll, value, with, with));
        int bits = dt_reg(c, n->location);
        dt_emit_int(c, mask, bits);
        dt_emit(c, DIF_RRR(DIF_OP_and, with, bits, with));
        dt_emit(c, DIF_RRR(DIF_OP_or, old, with, old));
        dt_emit(c, DIF_RRR(ops[p.size], old, 0, address));
        dt_reg_free(c, bits);
        dt_reg_free(c, with);
        dt_reg_free(c, old);
    } else if (n->is_ref) {
        int size = dt_reg(c, n->location);
        dt_emit_int(c, t->size, size);
        dt_emit(c, DIF_RRR(DIF_OP_copys, value, size, address));
        dt_reg_free(c, size);
    } else {
        enum dif_op op = t->size == 1   ? DIF_OP_stb
                         : t->size == 2 ? DIF_OP_sth
                         : t->size == 4 ? DIF_OP_stw
                                        : DIF_OP_stx;
        dt_emit(c, DIF_RRR(op, value, 0, address));
    }
}

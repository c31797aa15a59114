/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From checked trees to DIF. A register holds a value as its type has it: signed ones extended by
 * their sign to 64 bits, unsigned ones by zeros; strings, structs and arrays as their address.
 */
#include "host/d/code.h"

static uint32_t width_of(const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    return t->kind == D_TYPE_INTEGER && t->bits ? t->bits : (uint32_t)t->size * 8;
}

static bool is_signed(const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    return t->kind == D_TYPE_ENUM || (t->kind == D_TYPE_INTEGER && t->is_signed);
}

/* Cuts reg to so many bits and extends it again, by way of another register. */
static void narrow_by(struct d_code *c, int reg, uint32_t bits, bool sign, int shift)
{
    if (bits == 0 || bits >= 64) {
        return;
    }
    d_emit_int(c, 64 - bits, shift);
    d_emit(c, DIF_RRR(DIF_OP_sll, reg, shift, reg));
    d_emit(c, DIF_RRR(sign ? DIF_OP_sra : DIF_OP_srl, reg, shift, reg));
}

static void narrow(struct d_code *c, struct d_place place, int reg, uint32_t bits, bool sign)
{
    if (bits > 0 && bits < 64) {
        int shift = d_reg(c, place);
        narrow_by(c, reg, bits, sign, shift);
        d_reg_free(c, shift);
    }
}

/* reg becomes 1 if the branch is taken, else 0. */
static void flag(struct d_code *c, enum dif_op taken, int reg)
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
        flag(c, DIF_OP_bne, reg);
        return;
    }
    uint32_t had = width_of(from), has = width_of(to);
    bool fits = has > had ? !(is_signed(from) && !is_signed(to))
                          : has == had && is_signed(from) == is_signed(to);
    if (!fits) {
        narrow(c, place, reg, has, is_signed(to));
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

/* ---- operators ---------------------------------------------------------------------------------
 */

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

/* a = a op b, both of this type already. b is of no use then. */
void d_gen_operator(struct d_code *c, int op, const struct d_type *type, int a, int b)
{
    bool sign = is_signed(type);
    bool may_grow = op == '+' || op == '-' || op == '*' || op == D_OP_SHL || (op == '/' && sign);

    d_emit(c, DIF_RRR(arithmetic_op(op, sign), a, b, a));
    if (may_grow && d_type_is_integer(type)) {
        narrow_by(c, a, width_of(type), sign, b);
    }
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
    int a = numbers ? d_gen_as(c, n->left, common) : d_gen(c, n->left);
    int b = numbers ? d_gen_as(c, n->right, common) : d_gen(c, n->right);
    bool sign = strings || (numbers && is_signed(common));

    d_emit(c, DIF_RRR(strings ? DIF_OP_scmp : DIF_OP_cmp, a, b, 0));
    flag(c, comparison_op(n->op, sign), a);
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
    flag(c, DIF_OP_bne, a);
    d_emit(c, DIF_RRR(DIF_OP_tst, b, 0, 0));
    flag(c, DIF_OP_bne, b);
    d_emit(c, DIF_RRR(DIF_OP_xor, a, b, a));
    d_reg_free(c, b);
    return a;
}

static uint64_t step_of(const struct d_type *type)
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
        d_emit_int(c, step_of(n->left->type), size);
        d_emit(c, DIF_RRR(DIF_OP_sdiv, a, size, a));
        d_reg_free(c, size);
    } else {
        d_gen_scale(c, n->place, left ? b : a, step_of(left ? n->left->type : n->right->type));
        d_emit(c, DIF_RRR(n->op == '+' ? DIF_OP_add : DIF_OP_sub, a, b, a));
    }
    d_reg_free(c, b);
    return a;
}

static int gen_arithmetic(struct d_code *c, struct d_node *n)
{
    bool shift = n->op == D_OP_SHL || n->op == D_OP_SHR;

    if (d_type_is_pointer(n->left->type) || d_type_is_pointer(n->right->type)) {
        return gen_pointer_sum(c, n);
    }
    int a = d_gen_as(c, n->left, n->type);
    int b = shift ? d_gen(c, n->right) : d_gen_as(c, n->right, n->type);
    d_gen_operator(c, n->op, n->type, a, b);
    d_reg_free(c, b);
    return a;
}

int d_gen_binary(struct d_code *c, struct d_node *n)
{
    switch (n->op) {
    case D_OP_EQ:
    case D_OP_NE:
    case D_OP_LE:
    case D_OP_GE:
    case '<':
    case '>':
        return gen_comparison(c, n);
    case D_OP_ANDAND:
    case D_OP_OROR:
        return gen_short(c, n);
    case D_OP_XORXOR:
        return gen_exclusive(c, n);
    default:
        return gen_arithmetic(c, n);
    }
}

/* ---- memory ------------------------------------------------------------------------------------
 */

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
    struct bit_place p = {.bits = width_of(n->member->type)};

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

static int gen_element_address(struct d_code *c, struct d_node *n)
{
    int base = d_gen(c, n->left), index = d_gen(c, n->right);

    d_gen_scale(c, n->place, index, step_of(n->left->type));
    d_emit(c, DIF_RRR(DIF_OP_add, base, index, base));
    d_reg_free(c, index);
    return base;
}

int d_gen_address(struct d_code *c, struct d_node *n)
{
    int reg;

    /* An element of an associative array was an INDEX before it was checked. */
    switch (n->kind == D_NODE_IDENT ? 0 : n->op) {
    case D_OP_DEREF:
        return d_gen(c, n->left);
    case '.':
    case D_OP_ARROW:
        reg = n->op == '.' ? d_gen_address(c, n->left) : d_gen(c, n->left);
        add_constant(c, n->place, reg, is_bit_field(n) ? bit_place(n).offset : n->bit_offset / 8);
        return reg;
    case D_OP_INDEX:
        return gen_element_address(c, n);
    default:
        break;
    }
    if (n->kind == D_NODE_IDENT && n->ident->kind == D_IDENT_SYMBOL) {
        reg = d_reg(c, n->place);
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
        d_emit(c, DIF_RRR(is_signed(t) ? DIF_OP_sra : DIF_OP_srl, reg, shift, reg));
        d_reg_free(c, shift);
        return;
    }
    if (!n->is_ref) {
        d_emit(c, DIF_RRR(load_op(t->size, is_signed(t), n->is_user), reg, 0, reg));
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

/* ---- the rest ----------------------------------------------------------------------------------
 */

static int gen_ternary(struct d_code *c, struct d_node *n)
{
    unsigned otherwise = d_label(c), end = d_label(c);
    int reg = d_gen(c, n->left);

    d_emit(c, DIF_RRR(DIF_OP_tst, reg, 0, 0));
    d_branch(c, DIF_OP_be, otherwise);
    d_reg_free(c, reg);
    int a = d_gen(c, n->right);
    d_gen_convert(c, n->place, a, n->right->type, n->type);
    d_branch(c, DIF_OP_ba, end);
    d_label_here(c, otherwise);
    d_reg_free(c, a);
    int b = d_gen(c, n->third);
    d_gen_convert(c, n->place, b, n->third->type, n->type);
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
        flag(c, DIF_OP_be, reg);
        break;
    case '~':
        d_gen_convert(c, n->place, reg, n->left->type, n->type);
        d_emit(c, DIF_RRR(DIF_OP_not, reg, 0, reg));
        narrow(c, n->place, reg, width_of(n->type), is_signed(n->type));
        break;
    case D_OP_MINUS:
        d_gen_convert(c, n->place, reg, n->left->type, n->type);
        d_emit(c, DIF_RRR(DIF_OP_sub, 0, reg, reg));
        narrow(c, n->place, reg, width_of(n->type), is_signed(n->type));
        break;
    default: /* + */
        d_gen_convert(c, n->place, reg, n->left->type, n->type);
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
        d_gen_convert(c, n->place, reg, n->left->type, n->type);
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
        d_fail(d, n->place, "D_CG_EXPR", "an action or aggregation has no value");
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Variables, associative arrays, calls and assignments in DIF.
 */
#include "host/d/code.h"

static bool is_keyed(const struct d_node *n)
{
    return n->kind == D_NODE_IDENT && n->ident->kind == D_IDENT_ARRAY;
}

static bool is_variable(const struct d_node *n)
{
    return n->kind == D_NODE_IDENT && n->ident->kind != D_IDENT_SYMBOL;
}

/* ---- pushing -----------------------------------------------------------------------------------
 */

/* Evaluating it pushes something itself, which would mix with what was pushed before. */
static bool uses_tuple(const struct d_node *n)
{
    if (!n) {
        return false;
    }
    if (n->kind == D_NODE_CALL || is_keyed(n)) {
        return true;
    }
    for (const struct d_node *arg = n->args; arg; arg = arg->next) {
        if (uses_tuple(arg)) {
            return true;
        }
    }
    return uses_tuple(n->left) || uses_tuple(n->right) || uses_tuple(n->third);
}

static int gen_argument(struct d_code *c, struct d_node *arg, const struct d_type *wanted)
{
    bool any = !wanted || d_type_resolve(wanted)->kind == D_TYPE_DYNAMIC;

    return any ? d_gen(c, arg) : d_gen_as(c, arg, wanted);
}

static void push(struct d_code *c, const struct d_node *arg, int reg)
{
    struct dif_type type = d_dif_type(arg->type);
    bool text = d_type_is_string_like(arg->type) && d_type_resolve(arg->type)->kind == D_TYPE_ARRAY;

    if (!type.ref) {
        d_emit(c, DIF_RRR(DIF_OP_pushtv, DIF_TYPE_CTF, 0, reg));
    } else if (type.kind == DIF_TYPE_STRING) {
        d_emit(c, DIF_RRR(DIF_OP_pushtr, DIF_TYPE_STRING, 0, reg));
    } else {
        int size = d_reg(c, arg->place);
        d_emit_int(c, type.size, size);
        d_emit(c, DIF_RRR(DIF_OP_pushtr, text ? DIF_TYPE_STRING : DIF_TYPE_CTF, size, reg));
        d_reg_free(c, size);
    }
    d_reg_free(c, reg);
}

void d_gen_push(struct d_code *c, struct d_node *args, const struct d_type *const *wanted,
                unsigned nwanted)
{
    int regs[DIF_TUPLE_REGS];
    unsigned n = d_list_length(args), i = 0, ready = 0;

    if (n > DIF_TUPLE_REGS || n > d_option(c->session, "tregs")) {
        d_fail(c->session, args->place, "D_NOREG", "Insufficient tuple registers to generate code");
    }
    /* Up to the last one that pushes something itself, values wait in registers. */
    for (struct d_node *arg = args; arg; arg = arg->next) {
        i++;
        ready = uses_tuple(arg) ? i : ready;
    }
    i = 0;
    struct d_node *arg = args;
    for (; i < ready; arg = arg->next, i++) {
        regs[i] = gen_argument(c, arg, i < nwanted ? wanted[i] : NULL);
    }
    d_emit(c, DIF_RRR(DIF_OP_flushts, 0, 0, 0));
    i = 0;
    for (arg = args; arg; arg = arg->next, i++) {
        push(c, arg, i < ready ? regs[i] : gen_argument(c, arg, i < nwanted ? wanted[i] : NULL));
    }
}

int d_gen_call(struct d_code *c, struct d_node *n)
{
    if (n->ident->kind != D_IDENT_FUNCTION) {
        d_fail(c->session, n->place, "D_CG_EXPR",
               "%s( ) may not be called from a D expression (D program context required)", n->text);
    }
    d_gen_push(c, n->args, n->ident->signature.args, n->ident->signature.nargs);
    int reg = d_reg(c, n->place);
    d_emit(c, DIF_INDEX(DIF_OP_call, n->ident->number, reg));
    d_gen_convert(c, n->place, reg, n->type);
    return reg;
}

/* ---- variables ---------------------------------------------------------------------------------
 */

enum access { ACCESS_LOAD, ACCESS_STORE };

static enum dif_op access_op(const struct d_ident *ident, enum access how)
{
    static const enum dif_op scalar[2][3] = {{DIF_OP_ldgs, DIF_OP_ldts, DIF_OP_ldls},
                                             {DIF_OP_stgs, DIF_OP_stts, DIF_OP_stls}};
    static const enum dif_op keyed[2][2] = {{DIF_OP_ldgaa, DIF_OP_ldtaa},
                                            {DIF_OP_stgaa, DIF_OP_sttaa}};
    bool thread = ident->flags & D_IDENT_THREAD;

    if (ident->kind == D_IDENT_ARRAY) {
        return keyed[how][thread];
    }
    return scalar[how][thread ? 1 : ident->flags & D_IDENT_LOCAL ? 2 : 0];
}

static void push_keys(struct d_code *c, struct d_node *n)
{
    d_gen_push(c, n->args, n->ident->signature.args, n->ident->signature.nargs);
}

static int gen_builtin_array(struct d_code *c, struct d_node *n)
{
    int index = d_gen(c, n->args);

    d_emit(c, DIF_RRR(DIF_OP_ldga, n->ident->number, index, index));
    d_gen_convert(c, n->place, index, n->type);
    return index;
}

int d_gen_variable(struct d_code *c, struct d_node *n)
{
    const struct d_ident *ident = n->ident;

    if (ident->kind == D_IDENT_SYMBOL) {
        int reg = d_gen_address(c, n);
        d_gen_load(c, n, reg);
        return reg;
    }
    if (ident->kind == D_IDENT_XLATOR || !ident->type) {
        int reg = d_reg(c, n->place); /* a translator's or inline's own check: not run */
        d_emit_int(c, 0, reg);
        return reg;
    }
    if (is_keyed(n) && ident->flags & D_IDENT_BUILTIN) {
        return gen_builtin_array(c, n);
    }
    d_note_variable(c, ident, DIF_FLAG_REF);
    if (is_keyed(n)) {
        push_keys(c, n);
    }
    int reg = d_reg(c, n->place);
    d_emit(c, DIF_INDEX(access_op(ident, ACCESS_LOAD), ident->number, reg));
    return reg;
}

/* The address of an element, or of a thread's variable, for a store of a part of it: without a
 * value it is created, of zeros. A load gives the address of zeros then; storing what a load gave
 * leaves an element that is there alone. The keys stay pushed. */
static int gen_created(struct d_code *c, struct d_node *n)
{
    const struct d_ident *ident = n->ident;

    d_note_variable(c, ident, DIF_FLAG_REF | DIF_FLAG_MOD);
    if (is_keyed(n)) {
        push_keys(c, n);
    }
    int reg = d_reg(c, n->place);
    d_emit(c, DIF_INDEX(access_op(ident, ACCESS_LOAD), ident->number, reg));
    d_emit(c, DIF_INDEX(access_op(ident, ACCESS_STORE), ident->number, reg));
    d_emit(c, DIF_INDEX(access_op(ident, ACCESS_LOAD), ident->number, reg));
    return reg;
}

/* Where a value is stored that lies in something else. */
static int gen_target(struct d_code *c, struct d_node *n)
{
    const struct d_node *of = n->left;
    bool part =
        n->kind == D_NODE_BINARY &&
        (n->op == '.' || (n->op == D_OP_INDEX && d_type_resolve(of->type)->kind == D_TYPE_ARRAY));

    if (part) {
        return d_gen_part_address(c, n, gen_target(c, n->left));
    }
    bool dynamic = is_variable(n) && !(n->ident->flags & D_IDENT_BUILTIN) && n->is_ref &&
                   (is_keyed(n) || n->ident->flags & D_IDENT_THREAD);
    return dynamic ? gen_created(c, n) : d_gen_address(c, n);
}

static void store_variable(struct d_code *c, struct d_node *n, int value)
{
    d_note_variable(c, n->ident, DIF_FLAG_MOD);
    if (is_keyed(n)) {
        push_keys(c, n);
    }
    d_emit(c, DIF_INDEX(access_op(n->ident, ACCESS_STORE), n->ident->number, value));
}

/* ---- assignment --------------------------------------------------------------------------------
 */

static int gen_plain(struct d_code *c, struct d_node *n)
{
    int value = d_gen_as(c, n->right, n->left->type);

    if (is_variable(n->left)) {
        store_variable(c, n->left, value);
    } else {
        int address = gen_target(c, n->left);
        d_gen_store(c, n->left, value, address);
        d_reg_free(c, address);
    }
    return value;
}

static int plain_operator(int op)
{
    static const int ops[] = {'+', '-', '*', '/', '%', '&', '|', '^', D_OP_SHL, D_OP_SHR};

    return ops[op - D_OP_ADD_SET];
}

static uint64_t pointee_size(const struct d_type *type)
{
    uint64_t size = d_type_resolve(d_type_resolve(type)->to)->size;

    return size ? size : 1;
}

/* value = value op right, in 64 bits, then in the left one's type. */
static void combine(struct d_code *c, struct d_node *n, int value)
{
    const struct d_type *left = n->left->type, *right = n->right->type;
    int op = plain_operator(n->op);
    bool shift = op == D_OP_SHL || op == D_OP_SHR;
    int by = d_gen(c, n->right);

    if (d_type_is_pointer(left)) {
        d_gen_scale(c, n->place, by, pointee_size(left));
        d_emit(c, DIF_RRR(op == '+' ? DIF_OP_add : DIF_OP_sub, value, by, value));
    } else {
        const struct d_type *common =
            shift ? d_promote(c->session, left) : d_usual(c->session, left, right);
        d_gen_operator(c, op, common, value, by);
        d_gen_convert(c, n->place, value, left);
    }
    d_reg_free(c, by);
}

int d_gen_assign(struct d_code *c, struct d_node *n)
{
    if (n->op == '=') {
        return gen_plain(c, n);
    }
    if (is_variable(n->left)) {
        int value = d_gen_variable(c, n->left);
        combine(c, n, value);
        store_variable(c, n->left, value);
        return value;
    }
    int address = gen_target(c, n->left), value = d_reg(c, n->place);
    d_emit(c, DIF_RRR(DIF_OP_mov, address, 0, value));
    d_gen_load(c, n->left, value);
    combine(c, n, value);
    d_gen_store(c, n->left, value, address);
    d_reg_free(c, address);
    return value;
}

/* ++ and --: the new value is made in a register of its own if the old one is wanted. */
int d_gen_step(struct d_code *c, struct d_node *n)
{
    struct d_node *of = n->left;
    bool down = n->op == D_OP_PREDEC || n->op == D_OP_POSTDEC;
    bool post = n->op == D_OP_POSTINC || n->op == D_OP_POSTDEC;
    int address = is_variable(of) ? 0 : gen_target(c, of);
    int old = is_variable(of) ? d_gen_variable(c, of) : d_reg(c, n->place);

    if (address) {
        d_emit(c, DIF_RRR(DIF_OP_mov, address, 0, old));
        d_gen_load(c, of, old);
    }
    int fresh = d_reg(c, n->place);
    d_emit_int(c, d_type_is_pointer(of->type) ? pointee_size(of->type) : 1, fresh);
    d_emit(c, DIF_RRR(down ? DIF_OP_sub : DIF_OP_add, old, fresh, fresh));
    d_gen_convert(c, n->place, fresh, of->type);
    if (address) {
        d_gen_store(c, of, fresh, address);
        d_reg_free(c, address);
    } else {
        store_variable(c, of, fresh);
    }
    d_reg_free(c, post ? fresh : old);
    return post ? old : fresh;
}

/* ---- xlate as a whole: a struct in scratch -----------------------------------------------------
 */

static void gen_member(struct d_code *c, struct d_node *n, const struct d_member *m, int base)
{
    struct d_node *value = d_xlate_value(c->session, n, m);
    struct d_node target = {.kind = D_NODE_BINARY,
                            .op = D_OP_ARROW,
                            .place = n->place,
                            .member = m,
                            .bit_offset = m->bit_offset};

    if (!value) {
        return;
    }
    d_set_type(&target, m->type);
    int reg = d_gen_as(c, value, m->type);
    int address = d_reg(c, n->place), offset = d_reg(c, n->place);
    d_emit_int(c, m->bit_offset / 8, offset);
    d_emit(c, DIF_RRR(DIF_OP_add, base, offset, address));
    d_reg_free(c, offset);
    d_gen_store(c, &target, reg, address);
    d_reg_free(c, address);
    d_reg_free(c, reg);
}

int d_gen_translation(struct d_code *c, struct d_node *n)
{
    const struct d_type *output = d_type_resolve(n->translator->output);
    int base = d_reg(c, n->place), size = d_reg(c, n->place);

    d_emit_int(c, output->size, size);
    d_emit(c, DIF_RRR(DIF_OP_allocs, size, 0, base));
    d_reg_free(c, size);
    for (unsigned i = 0; i < output->nmembers; i++) {
        if (output->members[i].name) {
            gen_member(c, n, &output->members[i], base);
        }
    }
    return base;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Variables, associative arrays, calls and assignments in DIF.
 */
#include "host/dt/check/check.h"
#include "host/dt/code/code.h"

static bool is_keyed(const struct dt_node *n)
{
    return n->kind == DT_NODE_IDENT && n->ident->kind == DT_IDENT_ARRAY;
}

static bool is_variable(const struct dt_node *n)
{
    return n->kind == DT_NODE_IDENT && n->ident->kind != DT_IDENT_SYMBOL;
}

/* ---- pushing ----------------------------------------------------------------------- */

/* Evaluating it pushes something itself, which would mix with what was pushed before. */
static bool uses_tuple(const struct dt_node *n)
{
    if (!n) {
        return false;
    }
    if (n->kind == DT_NODE_CALL || is_keyed(n)) {
        return true;
    }
    for (const struct dt_node *arg = n->args; arg; arg = arg->next) {
        if (uses_tuple(arg)) {
            return true;
        }
    }
    return uses_tuple(n->left) || uses_tuple(n->right) || uses_tuple(n->third);
}

static int gen_argument(struct dt_code *c, struct dt_node *arg, const struct dt_type *wanted)
{
    bool any = !wanted || dt_type_resolve(wanted)->kind == DT_TYPE_DYNAMIC;

    return any ? dt_gen(c, arg) : dt_gen_as(c, arg, wanted);
}

static void codegen_push_argument(struct dt_code *c, const struct dt_node *arg, int reg)
{
    struct dif_type type = dt_dif_type(arg->type);
    bool text =
        dt_type_is_string_like(arg->type) && dt_type_resolve(arg->type)->kind == DT_TYPE_ARRAY;

    if (!type.ref) {
        dt_emit(c, DIF_RRR(DIF_OP_pushtv, DIF_TYPE_CTF, 0, reg));
    } else if (type.kind == DIF_TYPE_STRING) {
        dt_emit(c, DIF_RRR(DIF_OP_pushtr, DIF_TYPE_STRING, 0, reg));
    } else {
        int size = dt_reg(c, arg->location);
        dt_emit_int(c, type.size, size);
        dt_emit(c, DIF_RRR(DIF_OP_pushtr, text ? DIF_TYPE_STRING : DIF_TYPE_CTF, size, reg));
        dt_reg_free(c, size);
    }
    dt_reg_free(c, reg);
}

void dt_gen_push(struct dt_code *c, struct dt_node *args, const struct dt_type *const *wanted,
                 unsigned nwanted)
{
    int regs[DIF_TUPLE_REGS];
    unsigned n = dt_list_length(args), i = 0, ready = 0;

    if (n > DIF_TUPLE_REGS || n > dtrace_option(c->session, "tregs")) {
        dt_fail(c->session, args->location, "D_NOREG",
                "Insufficient tuple registers to generate code");
    }
    /* Up to the last one that pushes something itself, values wait in registers. */
    for (struct dt_node *arg = args; arg; arg = arg->next) {
        i++;
        ready = uses_tuple(arg) ? i : ready;
    }
    i = 0;
    struct dt_node *arg = args;
    for (; i < ready; arg = arg->next, i++) {
        regs[i] = gen_argument(c, arg, i < nwanted ? wanted[i] : NULL);
    }
    dt_emit(c, DIF_RRR(DIF_OP_flushts, 0, 0, 0));
    i = 0;
    for (arg = args; arg; arg = arg->next, i++) {
        codegen_push_argument(
            c, arg, i < ready ? regs[i] : gen_argument(c, arg, i < nwanted ? wanted[i] : NULL));
    }
}

int dt_gen_call(struct dt_code *c, struct dt_node *n)
{
    if (n->ident->kind != DT_IDENT_FUNCTION) {
        dt_fail(c->session, n->location, "D_CG_EXPR",
                "%s( ) may not be called from a D expression (D program context required)",
                n->text);
    }
    dt_gen_push(c, n->args, n->ident->signature.args, n->ident->signature.nargs);
    int reg = dt_reg(c, n->location);
    dt_emit(c, DIF_INDEX(DIF_OP_call, n->ident->number, reg));
    dt_gen_convert(c, n->location, reg, n->type);
    return reg;
}

/* ---- variables --------------------------------------------------------------------- */

enum access { ACCESS_LOAD, ACCESS_STORE };

static enum dif_op access_op(const struct dt_ident *ident, enum access how)
{
    static const enum dif_op scalar[2][3] = {{DIF_OP_ldgs, DIF_OP_ldts, DIF_OP_ldls},
                                             {DIF_OP_stgs, DIF_OP_stts, DIF_OP_stls}};
    static const enum dif_op keyed[2][2] = {{DIF_OP_ldgaa, DIF_OP_ldtaa},
                                            {DIF_OP_stgaa, DIF_OP_sttaa}};
    bool thread = ident->flags & DT_IDENT_THREAD;

    if (ident->kind == DT_IDENT_ARRAY) {
        return keyed[how][thread];
    }
    return scalar[how][thread ? 1 : ident->flags & DT_IDENT_LOCAL ? 2 : 0];
}

static void push_keys(struct dt_code *c, struct dt_node *n)
{
    dt_gen_push(c, n->args, n->ident->signature.args, n->ident->signature.nargs);
}

int dt_gen_variable(struct dt_code *c, struct dt_node *n)
{
    const struct dt_ident *ident = n->ident;

    if (ident->kind == DT_IDENT_SYMBOL) {
        int reg = dt_gen_address(c, n);
        dt_gen_load(c, n, reg);
        return reg;
    }
    if (ident->kind == DT_IDENT_XLATOR || !ident->type) {
        int reg = dt_reg(c, n->location); /* a translator's or inline's own check: not run */
        dt_emit_int(c, 0, reg);
        return reg;
    }
    if (is_keyed(n) && ident->flags & DT_IDENT_BUILTIN) {
        int index = dt_gen(c, n->args);
        dt_emit(c, DIF_RRR(DIF_OP_ldga, n->ident->number, index, index));
        dt_gen_convert(c, n->location, index, n->type);
        return index;
    }
    dt_note_variable(c, ident, DIF_FLAG_REF);
    if (is_keyed(n)) {
        push_keys(c, n);
    }
    int reg = dt_reg(c, n->location);
    dt_emit(c, DIF_INDEX(access_op(ident, ACCESS_LOAD), ident->number, reg));
    return reg;
}

/* The address of an element, or of a thread's variable, for a store of a part of it: without a
 * value it is created, of zeros. A load gives the address of zeros then; storing what a load gave
 * leaves an element that is there alone. The keys stay pushed. */
static int gen_created(struct dt_code *c, struct dt_node *n)
{
    const struct dt_ident *ident = n->ident;

    dt_note_variable(c, ident, DIF_FLAG_REF | DIF_FLAG_MOD);
    if (is_keyed(n)) {
        push_keys(c, n);
    }
    int reg = dt_reg(c, n->location);
    dt_emit(c, DIF_INDEX(access_op(ident, ACCESS_LOAD), ident->number, reg));
    dt_emit(c, DIF_INDEX(access_op(ident, ACCESS_STORE), ident->number, reg));
    dt_emit(c, DIF_INDEX(access_op(ident, ACCESS_LOAD), ident->number, reg));
    return reg;
}

/* Where a value is stored that lies in something else. */
static int gen_target(struct dt_code *c, struct dt_node *n)
{
    const struct dt_node *of = n->left;
    bool part = n->kind == DT_NODE_BINARY &&
                (n->op == '.' ||
                 (n->op == DT_OP_INDEX && dt_type_resolve(of->type)->kind == DT_TYPE_ARRAY));

    if (part) {
        return dt_gen_part_address(c, n, gen_target(c, n->left));
    }
    bool dynamic = is_variable(n) && !(n->ident->flags & DT_IDENT_BUILTIN) && n->is_ref &&
                   (is_keyed(n) || n->ident->flags & DT_IDENT_THREAD);
    return dynamic ? gen_created(c, n) : dt_gen_address(c, n);
}

static void store_variable(struct dt_code *c, struct dt_node *n, int value)
{
    dt_note_variable(c, n->ident, DIF_FLAG_MOD);
    if (is_keyed(n)) {
        push_keys(c, n);
    }
    dt_emit(c, DIF_INDEX(access_op(n->ident, ACCESS_STORE), n->ident->number, value));
}

/* ---- assignment -------------------------------------------------------------------- */

static uint64_t pointee_size(const struct dt_type *type)
{
    uint64_t size = dt_type_resolve(dt_type_resolve(type)->to)->size;

    return size ? size : 1;
}

/* value = value op right, in 64 bits, then in the left one's type. */
static void codegen_combine_value(struct dt_code *c, struct dt_node *n, int value)
{
    static const int ops[] = {'+', '-', '*', '/', '%', '&', '|', '^', DT_OP_SHL, DT_OP_SHR};
    const struct dt_type *left = n->left->type, *right = n->right->type;
    int op = ops[n->op - DT_OP_ADD_SET];
    bool shift = op == DT_OP_SHL || op == DT_OP_SHR;
    int by = dt_gen(c, n->right);

    if (dt_type_is_pointer(left)) {
        dt_gen_scale(c, n->location, by, pointee_size(left));
        dt_emit(c, DIF_RRR(op == '+' ? DIF_OP_add : DIF_OP_sub, value, by, value));
    } else {
        const struct dt_type *common =
            shift ? dt_promote(c->session, left) : dt_usual(c->session, left, right);
        dt_gen_operator(c, op, common, value, by);
        dt_gen_convert(c, n->location, value, left);
    }
    dt_reg_free(c, by);
}

int dt_gen_assign(struct dt_code *c, struct dt_node *n)
{
    bool plain = n->op == '=';

    if (is_variable(n->left)) {
        int value = plain ? dt_gen_as(c, n->right, n->left->type) : dt_gen_variable(c, n->left);
        if (!plain) {
            codegen_combine_value(c, n, value);
        }
        store_variable(c, n->left, value);
        return value;
    }
    int address, value;
    if (plain) {
        value = dt_gen_as(c, n->right, n->left->type);
        address = gen_target(c, n->left);
    } else {
        address = gen_target(c, n->left);
        value = dt_reg(c, n->location);
        dt_emit(c, DIF_RRR(DIF_OP_mov, address, 0, value));
        dt_gen_load(c, n->left, value);
        codegen_combine_value(c, n, value);
    }
    dt_gen_store(c, n->left, value, address);
    dt_reg_free(c, address);
    return value;
}

/* ++ and --: the new value is made in a register of its own if the old one is wanted. */
int dt_gen_step(struct dt_code *c, struct dt_node *n)
{
    struct dt_node *of = n->left;
    bool down = n->op == DT_OP_PREDEC || n->op == DT_OP_POSTDEC;
    bool post = n->op == DT_OP_POSTINC || n->op == DT_OP_POSTDEC;
    int address = is_variable(of) ? 0 : gen_target(c, of);
    int old = is_variable(of) ? dt_gen_variable(c, of) : dt_reg(c, n->location);

    if (address) {
        dt_emit(c, DIF_RRR(DIF_OP_mov, address, 0, old));
        dt_gen_load(c, of, old);
    }
    int fresh = dt_reg(c, n->location);
    dt_emit_int(c, dt_type_is_pointer(of->type) ? pointee_size(of->type) : 1, fresh);
    dt_emit(c, DIF_RRR(down ? DIF_OP_sub : DIF_OP_add, old, fresh, fresh));
    dt_gen_convert(c, n->location, fresh, of->type);
    if (address) {
        dt_gen_store(c, of, fresh, address);
        dt_reg_free(c, address);
    } else {
        store_variable(c, of, fresh);
    }
    dt_reg_free(c, post ? fresh : old);
    return post ? old : fresh;
}

/* ---- xlate as a whole: a struct in scratch ----------------------------------------- */

static void gen_member(struct dt_code *c, struct dt_node *n, const struct dt_member *m, int base)
{
    struct dt_node *value = dt_xlate_value(c->session, n, m);
    struct dt_node target = {.kind = DT_NODE_BINARY,
                             .op = DT_OP_ARROW,
                             .location = n->location,
                             .member = m,
                             .bit_offset = m->bit_offset};

    if (!value) {
        return;
    }
    dt_set_type(&target, m->type);
    int reg = dt_gen_as(c, value, m->type);
    int address = dt_reg(c, n->location), offset = dt_reg(c, n->location);
    dt_emit_int(c, m->bit_offset / 8, offset);
    dt_emit(c, DIF_RRR(DIF_OP_add, base, offset, address));
    dt_reg_free(c, offset);
    dt_gen_store(c, &target, reg, address);
    dt_reg_free(c, address);
    dt_reg_free(c, reg);
}

int dt_gen_translation(struct dt_code *c, struct dt_node *n)
{
    const struct dt_type *output = dt_type_resolve(n->translator->output);
    int base = dt_reg(c, n->location), size = dt_reg(c, n->location);

    dt_emit_int(c, output->size, size);
    dt_emit(c, DIF_RRR(DIF_OP_allocs, size, 0, base));
    dt_reg_free(c, size);
    for (unsigned i = 0; i < output->nmembers; i++) {
        if (output->members[i].name) {
            gen_member(c, n, &output->members[i], base);
        }
    }
    return base;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates valid instructions into the interpreter's, and computes properties of the whole
 * object. Control context. Tested by test/trace/dtrace/machine/image_test.c.
 */
#include "trace/assert.h"
#include "trace/dtrace/code.h"
#include "trace/dtrace/run.h"

/* Opcodes of variables that are not thread-local: scope, and the interpreter's opcode for a value;
 * the next opcode is for a reference. 0: none, the index suffices. */
static const struct {
    uint8_t op, scope, own;
} variable_ops[] = {
    {DIF_OP_ldgs, DIF_SCOPE_GLOBAL, DTRACE_RUN_ldgs_value},
    {DIF_OP_stgs, DIF_SCOPE_GLOBAL, DTRACE_RUN_stgs_value},
    {DIF_OP_ldls, DIF_SCOPE_LOCAL, DTRACE_RUN_ldls_value},
    {DIF_OP_stls, DIF_SCOPE_LOCAL, DTRACE_RUN_stls_value},
    {DIF_OP_ldgaa, DIF_SCOPE_GLOBAL, 0},
    {DIF_OP_stgaa, DIF_SCOPE_GLOBAL, 0},
};
_Static_assert(DTRACE_RUN_ldgs_ref == DTRACE_RUN_ldgs_value + 1 &&
                   DTRACE_RUN_stgs_ref == DTRACE_RUN_stgs_value + 1 &&
                   DTRACE_RUN_ldls_ref == DTRACE_RUN_ldls_value + 1 &&
                   DTRACE_RUN_stls_ref == DTRACE_RUN_stls_value + 1,
               "variable_ops[]");

/* Translates the number of a variable to its location. */
static void decode_variable(const struct dtrace_var_table *vars, uint16_t id,
                            struct dtrace_insn *to)
{
    uint8_t scope = DIF_SCOPE_THREAD, own = 0;

    to->index = id;
    if (DIF_VAR_arg0 <= id && id <= DIF_VAR_arg4) {
        to->op = DTRACE_RUN_ldgs_arg;
        to->index = id - DIF_VAR_arg0;
    }
    if (id < DIF_VAR_OTHER_USER) {
        return;
    }
    for (unsigned n = 0; n < sizeof(variable_ops) / sizeof(*variable_ops); n++) {
        if (variable_ops[n].op == to->op) {
            scope = variable_ops[n].scope;
            own = variable_ops[n].own;
        }
    }
    const struct dtrace_var_slot *slot = dtrace_var_find(vars, scope, id);
    trace_assert(slot->variable);
    to->index = slot->index;
    if (own) {
        to->op = own + (slot->variable->type.ref != 0);
    }
}

/* Loads are in groups of seven: sb, sh, sw, ub, uh, uw, x. */
static uint8_t width_of(uint8_t op)
{
    static const uint8_t loads[] = {
        1 | DTRACE_SIGNED, 2 | DTRACE_SIGNED, 4 | DTRACE_SIGNED, 1, 2, 4, 8};

    if (op >= DIF_OP_uldsb) {
        return loads[(op - DIF_OP_uldsb) % sizeof(loads)];
    }
    return op >= DIF_OP_stb ? (uint8_t)(1 << (op - DIF_OP_stb)) : loads[op - DIF_OP_ldsb];
}

_Static_assert(DIF_OP_ldx - DIF_OP_ldsb == 6 && DIF_OP_rldsb - DIF_OP_uldsb == 7 &&
                   DIF_OP_stx - DIF_OP_stb == 3,
               "their order is the table's");

/* A branch to `ret` can return directly, also if a move precedes the `ret`: most false predicates
 * end so. */
static dif_insn decode_shortened(const struct dif_object *o, const dif_insn *at)
{
    bool moves = DIF_INSN_OP(*at) == DIF_OP_mov;
    dif_insn next = at[moves]; /* the last instruction is `ret` */
    dif_insn target = DIF_INSN_OP(next) == DIF_OP_ba ? o->text[DIF_INSN_LABEL(next)] : next;

    if (DIF_INSN_OP(target) != DIF_OP_ret) {
        return *at;
    }
    if (!moves) {
        return target;
    }
    return DIF_INSN_RD(target) == DIF_INSN_RD(*at) ? (uint32_t)DIF_OP_ret << 24 | DIF_INSN_R1(*at)
                                                   : *at;
}

void dtrace_decode(const struct dif_object *o, const struct dtrace_var_table *vars,
                   struct dtrace_insn *to)
{
    for (uint32_t at = 0; at < o->ntext; at++, to++) {
        dif_insn i = decode_shortened(o, &o->text[at]);

        to->op = (uint8_t)DIF_INSN_OP(i);
        to->rd = DIF_INSN_RD(i);
        to->r1 = DIF_INSN_R1(i);
        to->r2 = DIF_INSN_R2(i);
        switch (dtrace_formats[to->op]) {
        case DIF_FORMAT_LDV:
        case DIF_FORMAT_STV:
            decode_variable(vars, DIF_INSN_INDEX(i), to);
            break;
        case DIF_FORMAT_BRANCH: /* an object has at most 64 K instructions */
            to->index = (uint16_t)DIF_INSN_LABEL(i);
            break;
        case DIF_FORMAT_SETX:
        case DIF_FORMAT_SETS:
            to->index = DIF_INSN_INDEX(i);
            break;
        case DIF_FORMAT_CALL:
            to->index = (uint16_t)dtrace_subr_find(DIF_INSN_INDEX(i));
            break;
        case DIF_FORMAT_LOAD:
        case DIF_FORMAT_STORE:
            to->r2 = width_of(to->op);
            break;
        default:
            break;
        }
    }
}

/* Returns whether this instruction's result depends only on the thread. Assigning a thread-local
 * variable invalidates the cache. */
static bool decode_cacheable(dif_insn i)
{
    uint32_t op = DIF_INSN_OP(i), id = DIF_INSN_INDEX(i);

    switch (dtrace_formats[op]) {
    case DIF_FORMAT_LDV:
        return op == DIF_OP_ldts ||
               (op == DIF_OP_ldgs &&
                (id == DIF_VAR_curthread || id == DIF_VAR_pid || id == DIF_VAR_tid ||
                 id == DIF_VAR_execname || id == DIF_VAR_zonename));
    case DIF_FORMAT_RRR:
    case DIF_FORMAT_RR:
        return op != DIF_OP_allocs;
    case DIF_FORMAT_CMP:
    case DIF_FORMAT_TST:
    case DIF_FORMAT_BRANCH:
    case DIF_FORMAT_RET:
    case DIF_FORMAT_NONE:
    case DIF_FORMAT_SETX:
    case DIF_FORMAT_SETS:
        return true;
    default:
        return false;
    }
}

/* Returns a mask of the registers that the instruction may read. */
static uint32_t decode_reads(dif_insn i)
{
    uint8_t fields = dtrace_format_fields[dtrace_formats[DIF_INSN_OP(i)]];
    uint32_t reads = 0;

    if (fields & DTRACE_R1) {
        reads |= 1u << DIF_INSN_R1(i);
    }
    if (fields & DTRACE_R2) {
        reads |= 1u << DIF_INSN_R2(i);
    }
    if (fields & DTRACE_RD_READ) {
        reads |= 1u << DIF_INSN_RD(i);
    }
    return reads;
}

/* Returns whether each register has been written before it is read, in an object without
 * branches. */
static bool decode_written(const struct dif_object *o)
{
    uint32_t written = 1; /* r0 */

    for (uint32_t at = 0; at < o->ntext; at++) {
        dif_insn i = o->text[at];
        uint8_t format = dtrace_formats[DIF_INSN_OP(i)];
        if (format == DIF_FORMAT_BRANCH || decode_reads(i) & ~written) {
            return false;
        }
        written |= dtrace_format_writes(format) ? 1u << DIF_INSN_RD(i) % DIF_REGS : 0;
    }
    return true;
}

uint32_t dtrace_decode_flags(const struct dif_object *o)
{
    uint32_t flags = DTRACE_OBJECT_CACHEABLE, id = DIF_INSN_INDEX(o->text[0]);

    /* The fast path of dtrace_eval() is for objects that can't fault: it has no instruction to
     * report. */
    if (o->ntext == 2 && DIF_INSN_OP(o->text[0]) == DIF_OP_ldgs &&
        DIF_INSN_RD(o->text[0]) == DIF_INSN_RD(o->text[1])) {
        if (DIF_VAR_arg0 <= id && id <= DIF_VAR_arg4) {
            flags |= DTRACE_OBJECT_ARG;
        } else if ((DIF_VAR_curthread <= id && id <= DIF_VAR_jailname) || id == DIF_VAR_cpu) {
            flags |= DTRACE_OBJECT_BUILTIN;
        }
    }
    flags |= decode_written(o) ? DTRACE_OBJECT_WRITTEN : 0;
    for (uint32_t i = 0; i < o->ntext; i++) {
        uint32_t subr = DIF_INSN_INDEX(o->text[i]);
        if (!decode_cacheable(o->text[i])) {
            flags &= ~(uint32_t)DTRACE_OBJECT_CACHEABLE;
        }
        if (DIF_INSN_OP(o->text[i]) == DIF_OP_call &&
            (subr == DIF_SUBR_copyout || subr == DIF_SUBR_copyoutstr)) {
            flags |= DTRACE_OBJECT_DESTRUCTIVE;
        }
    }
    return flags;
}

/* Known values of registers and pushed data, reading from top to bottom. */
struct scan {
    uint32_t value[DIF_REGS]; /* 0: unknown, or too large */
    uint32_t pushed[DIF_TUPLE_REGS];
    uint32_t npushed, most;
};

static void scan_push(struct scan *s, uint32_t bytes)
{
    if (s->npushed < DIF_TUPLE_REGS) {
        s->pushed[s->npushed++] = bytes > DIF_STATIC_VAR_MAX ? 0 : (bytes + 7) & ~7u;
    }
}

uint32_t dtrace_decode_key_bytes(const struct dif_object *o, uint32_t strsize)
{
    struct scan s = {.most = 0};

    for (uint32_t at = 0; at < o->ntext; at++) {
        dif_insn i = o->text[at];
        uint32_t size = s.value[DIF_INSN_R2(i) % DIF_REGS], rd = DIF_INSN_RD(i) % DIF_REGS;
        uint32_t bytes = 0; /* of the key */

        switch (DIF_INSN_OP(i)) {
        case DIF_OP_setx:
            s.value[rd] = (uint32_t)o->ints[DIF_INSN_INDEX(i)];
            s.value[rd] = o->ints[DIF_INSN_INDEX(i)] >> 32 ? 0 : s.value[rd];
            break;
        case DIF_OP_flushts:
            s.npushed = 0;
            break;
        case DIF_OP_popts:
            s.npushed -= s.npushed > 0;
            break;
        case DIF_OP_pushtv:
            scan_push(&s, 8);
            break;
        case DIF_OP_pushtr:
            if (DIF_INSN_PUSH_TYPE(i) == DIF_TYPE_STRING) {
                size = size && size < strsize ? size : strsize;
            }
            scan_push(&s, size);
            break;
        case DIF_OP_ldgaa:
        case DIF_OP_ldtaa:
        case DIF_OP_stgaa:
        case DIF_OP_sttaa:
            for (uint32_t n = 0; n < s.npushed; n++) {
                bytes += s.pushed[n];
            }
            s.most = bytes > s.most ? bytes : s.most;
            break;
        }
        if (DIF_INSN_OP(i) != DIF_OP_setx && dtrace_format_writes(dtrace_formats[DIF_INSN_OP(i)])) {
            s.value[rd] = 0;
        }
    }
    return s.most;
}

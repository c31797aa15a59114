/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Validates an object. The interpreter relies on every one of these rules and checks none again:
 *
 *   every opcode is known and is not the compiler's own; reserved fields are 0
 *   registers are r0-r7; none that is written, or stored through, is r0
 *   labels lead forward, within the object; its last instruction is ret
 *   constants and strings are in their tables; the strings end with a NUL
 *   only a program's own variables are stored; each is declared as it is used
 *   subroutines exist; pushed data is a value, or a string or datum by reference
 *   scope and kind of variables are known; clause-local arrays don't exist
 *   built-in variables are global, of their own kind, and not written
 *   a string is by reference; other variables by reference have a size;
 *   variables have at most 16 KB, associative elements 1 MB
 *   a result is a C value of 0, 1, 2, 4 or 8 bytes, or by reference
 *
 * Control context. Each rule has its test in test/trace/dtrace/machine/validate_test.c.
 */
#include "trace/dtrace/code.h"

const uint8_t dtrace_formats[DIF_OP_MAX + 1] = {
#define DIF_OP(number, name, format, doc) [number] = DIF_FORMAT_##format,
#include "trace/dtrace/opcodes.def"
};

/* ---- declarations ------------------------------------------------------------------ */

static enum dtrace_reason check_type(const struct dif_type *t)
{
    if (t->kind > DIF_TYPE_STRING || t->ref > 1 || t->pad) {
        return DTRACE_REASON_TYPE_KIND;
    }
    if (t->kind == DIF_TYPE_STRING) {
        return t->ref ? DTRACE_REASON_NONE : DTRACE_REASON_STRING_BY_VALUE;
    }
    return t->ref && t->size == 0 ? DTRACE_REASON_NO_SIZE : DTRACE_REASON_NONE;
}

static enum dtrace_reason check_declaration(const struct dif_object *o,
                                            const struct dif_variable *v)
{
    enum dtrace_reason reason = check_type(&v->type);

    if (reason) {
        return reason;
    }
    if (v->scope > DIF_SCOPE_LOCAL) {
        return DTRACE_REASON_VARIABLE_SCOPE;
    }
    if (v->kind > DIF_KIND_SCALAR || v->flags & ~(uint32_t)(DIF_FLAG_REF | DIF_FLAG_MOD)) {
        return DTRACE_REASON_VARIABLE_KIND;
    }
    if (v->name && v->name >= o->strings_size) {
        return DTRACE_REASON_NO_NAME;
    }
    if (v->id < DIF_VAR_OTHER_USER) {
        enum dif_var_kind kind = v->id <= DIF_VAR_ARRAY_MAX ? DIF_KIND_ARRAY : DIF_KIND_SCALAR;
        bool proper = v->scope == DIF_SCOPE_GLOBAL && v->kind == kind && !(v->flags & DIF_FLAG_MOD);
        return proper ? DTRACE_REASON_NONE : DTRACE_REASON_BUILTIN_DECLARED;
    }
    if (v->kind == DIF_KIND_ARRAY && v->scope == DIF_SCOPE_LOCAL) {
        return DTRACE_REASON_LOCAL_ARRAY;
    }
    uint32_t most = v->kind == DIF_KIND_SCALAR ? DIF_STATIC_VAR_MAX : DIF_ELEMENT_MAX;
    return v->type.ref && v->type.size > most ? DTRACE_REASON_VARIABLE_SIZE : DTRACE_REASON_NONE;
}

/* ---- instructions ------------------------------------------------------------------ */

/* Checks that a variable is used as it is declared, with the scope and kind of its instruction. */
static enum dtrace_reason check_use(const struct dif_object *o, dif_insn i, bool stores)
{
    uint32_t id = DIF_INSN_INDEX(i);
    enum dif_scope scope = DIF_SCOPE_GLOBAL;
    enum dif_var_kind kind = DIF_KIND_SCALAR;

    if (id <= DIF_VAR_ARRAY_MAX) {
        return DTRACE_REASON_ARRAY_NUMBER;
    }
    if (id < DIF_VAR_OTHER_USER) {
        return stores                          ? DTRACE_REASON_BUILTIN_STORED
               : DIF_INSN_OP(i) != DIF_OP_ldgs ? DTRACE_REASON_BUILTIN_LOADED
                                               : DTRACE_REASON_NONE;
    }
    switch (DIF_INSN_OP(i)) {
    case DIF_OP_ldtaa:
    case DIF_OP_sttaa:
        kind = DIF_KIND_ARRAY;
        scope = DIF_SCOPE_THREAD;
        break;
    case DIF_OP_ldgaa:
    case DIF_OP_stgaa:
        kind = DIF_KIND_ARRAY;
        break;
    case DIF_OP_ldts:
    case DIF_OP_stts:
        scope = DIF_SCOPE_THREAD;
        break;
    case DIF_OP_ldls:
    case DIF_OP_stls:
        scope = DIF_SCOPE_LOCAL;
        break;
    }
    for (uint32_t n = 0; n < o->nvars; n++) {
        const struct dif_variable *v = &o->vars[n];
        if (v->id == id && v->scope == scope && v->kind == kind) {
            return DTRACE_REASON_NONE;
        }
    }
    return DTRACE_REASON_NOT_DECLARED;
}

const uint8_t dtrace_format_fields[] = {
#define R1 DTRACE_R1
#define R2 DTRACE_R2
#define WRITES (DTRACE_RD | DTRACE_NOT_R0)
#define READS (DTRACE_RD | DTRACE_RD_READ)
    [DIF_FORMAT_RRR] = R1 | R2 | WRITES,
    [DIF_FORMAT_RR] = R1 | DTRACE_NO_R2 | WRITES,
    [DIF_FORMAT_CMP] = R1 | R2 | DTRACE_NO_RD,
    [DIF_FORMAT_TST] = R1 | DTRACE_NO_R2 | DTRACE_NO_RD,
    [DIF_FORMAT_BRANCH] = 0,
    [DIF_FORMAT_LOAD] = R1 | DTRACE_NO_R2 | WRITES,
    [DIF_FORMAT_STORE] = R1 | DTRACE_NO_R2 | READS | DTRACE_NOT_R0,
    [DIF_FORMAT_RET] = DTRACE_NO_R1 | DTRACE_NO_R2 | READS,
    [DIF_FORMAT_NONE] = DTRACE_NO_R1 | DTRACE_NO_R2 | DTRACE_NO_RD,
    [DIF_FORMAT_SETX] = WRITES,
    [DIF_FORMAT_SETS] = WRITES,
    [DIF_FORMAT_LDA] = R2 | WRITES,
    [DIF_FORMAT_LDV] = WRITES,
    [DIF_FORMAT_STV] = READS,
    [DIF_FORMAT_CALL] = WRITES,
    [DIF_FORMAT_PUSHR] = R2 | READS,
    [DIF_FORMAT_PUSHV] = R2 | READS,
    [DIF_FORMAT_COPY] = R1 | R2 | READS | DTRACE_NOT_R0,
    [DIF_FORMAT_XLATE] = 0,
#undef R1
#undef R2
#undef WRITES
#undef READS
};

static enum dtrace_reason check_fields(dif_insn i, uint8_t has)
{
    uint32_t r1 = DIF_INSN_R1(i), r2 = DIF_INSN_R2(i), rd = DIF_INSN_RD(i);

    if ((has & DTRACE_NO_R1 && r1) || (has & DTRACE_NO_R2 && r2) || (has & DTRACE_NO_RD && rd)) {
        return DTRACE_REASON_RESERVED;
    }
    if ((has & DTRACE_R1 && r1 >= DIF_REGS) || (has & DTRACE_R2 && r2 >= DIF_REGS) ||
        (has & DTRACE_RD && rd >= DIF_REGS)) {
        return DTRACE_REASON_REGISTER;
    }
    return has & DTRACE_NOT_R0 && rd == 0 ? DTRACE_REASON_R0 : DTRACE_REASON_NONE;
}

static enum dtrace_reason check_operand(const struct dif_object *o, uint32_t at,
                                        enum dif_format format)
{
    dif_insn i = o->text[at];
    uint32_t label = DIF_INSN_LABEL(i);

    switch (format) {
    case DIF_FORMAT_BRANCH:
        if (label >= o->ntext) {
            return DTRACE_REASON_BRANCH_OUT;
        }
        return label <= at ? DTRACE_REASON_BACKWARD : DTRACE_REASON_NONE;
    case DIF_FORMAT_SETX:
        return DIF_INSN_INDEX(i) >= o->nints ? DTRACE_REASON_INTEGER : DTRACE_REASON_NONE;
    case DIF_FORMAT_SETS:
        return DIF_INSN_INDEX(i) >= o->strings_size ? DTRACE_REASON_STRING : DTRACE_REASON_NONE;
    case DIF_FORMAT_LDV:
    case DIF_FORMAT_STV:
        return check_use(o, i, format == DIF_FORMAT_STV);
    case DIF_FORMAT_CALL:
        return DIF_INSN_INDEX(i) > DIF_SUBR_MAX ? DTRACE_REASON_SUBROUTINE : DTRACE_REASON_NONE;
    case DIF_FORMAT_PUSHR:
        return DIF_INSN_PUSH_TYPE(i) > DIF_TYPE_STRING ? DTRACE_REASON_PUSH_TYPE
                                                       : DTRACE_REASON_NONE;
    case DIF_FORMAT_PUSHV:
        return DIF_INSN_PUSH_TYPE(i) != DIF_TYPE_CTF ? DTRACE_REASON_PUSH_VALUE
                                                     : DTRACE_REASON_NONE;
    case DIF_FORMAT_XLATE:
        return DTRACE_REASON_TRANSLATOR;
    default:
        return DTRACE_REASON_NONE;
    }
}

static enum dtrace_reason check_tables(const struct dif_object *o)
{
    /* in an image, none of them is above DTRACE_IMAGE_MAX */
    size_t bytes = o->ntext * sizeof(*o->text) + o->nints * sizeof(*o->ints) +
                   o->nvars * sizeof(*o->vars) + o->strings_size;

    if (bytes > DIF_OBJECT_MAX) {
        return DTRACE_REASON_OBJECT_SIZE;
    }
    if (o->ntext == 0) {
        return DTRACE_REASON_EMPTY;
    }
    if (o->strings_size && (o->strings[0] || o->strings[o->strings_size - 1])) {
        return DTRACE_REASON_OBJECT_STRINGS;
    }
    enum dtrace_reason reason = check_type(&o->result);
    if (!reason && !o->result.ref &&
        (o->result.size > 8 || o->result.size & (o->result.size - 1))) {
        reason = DTRACE_REASON_VALUE_SIZE;
    }
    return reason;
}

enum dtrace_reason dtrace_validate(const struct dif_object *o, uint32_t *offset)
{
    enum dtrace_reason reason = check_tables(o);

    *offset = UINT32_MAX;
    for (uint32_t v = 0; v < o->nvars && !reason; v++) {
        reason = check_declaration(o, &o->vars[v]);
    }
    for (uint32_t at = 0; at < o->ntext && !reason; at++) {
        *offset = at;
        uint32_t op = DIF_INSN_OP(o->text[at]);
        enum dif_format format = op <= DIF_OP_MAX ? dtrace_formats[op] : DIF_FORMAT_BAD;
        reason = format == DIF_FORMAT_BAD ? DTRACE_REASON_OPCODE
                                          : check_fields(o->text[at], dtrace_format_fields[format]);
        reason = reason ? reason : check_operand(o, at, format);
    }
    if (!reason && DIF_INSN_OP(o->text[o->ntext - 1]) != DIF_OP_ret) {
        reason = DTRACE_REASON_NO_RET;
    }
    return reason;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The assembler: registers, labels and tables of one object.
 */
#include "host/dt/code/code.h"

#include <string.h>

void dt_code_init(struct dt_session *d, struct dt_code *c, struct dt_location location)
{
    *c = (struct dt_code){.session = d, .location = location, .used = 1};
    c->strings_room = 64;
    c->strings = dt_alloc(d, c->strings_room);
    c->strings_size = 1; /* begins with an empty one */
}

int dt_reg(struct dt_code *c, struct dt_location location)
{
    uint64_t asked = dtrace_option(c->session, "iregs");
    int regs = asked < DIF_REGS ? (int)asked : DIF_REGS;

    for (int reg = 1; reg < regs; reg++) {
        if (!(c->used >> reg & 1)) {
            c->used |= 1u << reg;
            return reg;
        }
    }
    dt_fail(c->session, location, "D_NOREG", "Insufficient registers to generate code");
}

void dt_reg_free(struct dt_code *c, int reg)
{
    c->used &= ~(1u << reg) | 1;
}

void dt_emit(struct dt_code *c, dif_insn insn)
{
    *(dif_insn *)dt_list_add(c->session, &c->text, sizeof(insn)) = insn;
}

unsigned dt_label(struct dt_code *c)
{
    dt_list_add(c->session, &c->labels, sizeof(uint32_t));
    return c->labels.n - 1;
}

void dt_label_here(struct dt_code *c, unsigned label)
{
    ((uint32_t *)c->labels.data)[label] = c->text.n;
}

void dt_branch(struct dt_code *c, enum dif_op op, unsigned label)
{
    dt_emit(c, DIF_BRANCH(op, label));
}

/* setx and sets have 16 bits for the index in their table. */
static void emit_index(struct dt_code *c, enum dif_op op, uint32_t index, int reg)
{
    if (index > UINT16_MAX) {
        dt_fail(c->session, c->location, "D_CG_EXPR", "expression has too many constants");
    }
    dt_emit(c, DIF_INDEX(op, index, reg));
}

void dt_emit_int(struct dt_code *c, uint64_t value, int reg)
{
    const uint64_t *ints = c->ints.data;
    unsigned i = 0;

    if (value == 0) {
        dt_emit(c, DIF_RRR(DIF_OP_mov, 0, 0, reg));
        return;
    }
    while (i < c->ints.n && ints[i] != value) {
        i++;
    }
    if (i == c->ints.n) {
        *(uint64_t *)dt_list_add(c->session, &c->ints, sizeof(value)) = value;
    }
    emit_index(c, DIF_OP_setx, i, reg);
}

/* The string's offset in the table; one that is there already is used again. */
static uint32_t string_offset(struct dt_code *c, const char *text)
{
    size_t n = strlen(text) + 1;

    for (uint32_t at = 0; at < c->strings_size; at += (uint32_t)strlen(c->strings + at) + 1) {
        if (strcmp(c->strings + at, text) == 0) {
            return at;
        }
    }
    if (c->strings_size + n > c->strings_room) {
        uint32_t room = (uint32_t)(c->strings_size + n) * 2;
        char *strings = dt_alloc(c->session, room);
        memcpy(strings, c->strings, c->strings_size);
        c->strings = strings;
        c->strings_room = room;
    }
    memcpy(c->strings + c->strings_size, text, n);
    c->strings_size += (uint32_t)n;
    return c->strings_size - (uint32_t)n;
}

void dt_emit_string(struct dt_code *c, const char *text, int reg)
{
    emit_index(c, DIF_OP_sets, string_offset(c, text), reg);
}

struct dif_type dt_dif_type(const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);
    bool ref = t->kind == DT_TYPE_STRUCT || t->kind == DT_TYPE_UNION || t->kind == DT_TYPE_ARRAY;

    if (t->kind == DT_TYPE_STRING) {
        return (struct dif_type){.kind = DIF_TYPE_STRING, .ref = 1};
    }
    if (t->kind == DT_TYPE_VOID || t->kind == DT_TYPE_DYNAMIC) {
        return (struct dif_type){.kind = DIF_TYPE_CTF};
    }
    return (struct dif_type){.kind = DIF_TYPE_CTF, .ref = ref, .size = (uint32_t)t->size};
}

/* Bytes that accesses to the members may touch: a bit-field's unit can reach beyond the struct,
 * which has no padding at its end then. */
static uint64_t reach_of(const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);
    uint64_t reach = t->size;

    if (t->kind == DT_TYPE_ARRAY && t->count > 0) {
        uint64_t element = dt_type_resolve(t->to)->size;
        uint64_t last = (t->count - 1) * element + reach_of(t->to);
        return last > reach ? last : reach;
    }
    for (uint32_t i = 0; dt_type_is_struct(t) && i < t->nmembers; i++) {
        uint64_t end = t->members[i].bit_offset / 8 + reach_of(t->members[i].type);
        reach = end > reach ? end : reach;
    }
    return reach;
}

void dt_note_variable(struct dt_code *c, const struct dt_ident *ident, unsigned flags)
{
    struct dif_variable *v = c->vars.data;
    enum dif_scope scope = ident->flags & DT_IDENT_THREAD  ? DIF_SCOPE_THREAD
                           : ident->flags & DT_IDENT_LOCAL ? DIF_SCOPE_LOCAL
                                                           : DIF_SCOPE_GLOBAL;

    for (unsigned i = 0; i < c->vars.n; i++) {
        if (v[i].id == ident->number && v[i].scope == scope) {
            v[i].flags |= flags;
            return;
        }
    }
    uint32_t name = string_offset(c, ident->name);
    *(const struct dt_type **)dt_list_add(c->session, &c->var_types, sizeof(ident->type)) =
        ident->type;
    v = dt_list_add(c->session, &c->vars, sizeof(*v));
    *v = (struct dif_variable){
        .name = name,
        .id = (uint16_t)ident->number,
        .kind = ident->kind == DT_IDENT_ARRAY ? DIF_KIND_ARRAY : DIF_KIND_SCALAR,
        .scope = (uint8_t)scope,
        .flags = flags,
        .type = dt_dif_type(ident->type),
    };
    if (v->type.ref && v->type.kind == DIF_TYPE_CTF) {
        v->type.size = (uint32_t)reach_of(ident->type);
    }
}

struct dif_object dt_code_finish(struct dt_code *c, struct dif_type result)
{
    dif_insn *text = c->text.data;
    const uint32_t *labels = c->labels.data;

    for (unsigned i = 0; i < c->text.n; i++) {
        if (DIF_INSN_OP(text[i]) >= DIF_OP_ba && DIF_INSN_OP(text[i]) <= DIF_OP_bleu) {
            text[i] = DIF_BRANCH(DIF_INSN_OP(text[i]), labels[DIF_INSN_LABEL(text[i])]);
        }
    }
    return (struct dif_object){
        .text = text,
        .ints = c->ints.data,
        .strings = c->strings,
        .vars = c->vars.data,
        .ntext = c->text.n,
        .nints = c->ints.n,
        .strings_size = c->strings_size,
        .nvars = c->vars.n,
        .result = result,
    };
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The naive interpreter: which objects may be loaded, a rule at a time, as docs/reference/dif.md
 * has them. See naive.h.
 */
#include "test/trace/dtrace/random/naive.h"

#include <string.h>

/* Each format by its fields: 1 r1, 2 r2, d rd, D rd that must not be r0, x anything, 0 must
 * be 0. */
static const char *const fields[] = {
    [DIF_FORMAT_RRR] = "12D",   [DIF_FORMAT_RR] = "10D",     [DIF_FORMAT_CMP] = "120",
    [DIF_FORMAT_TST] = "100",   [DIF_FORMAT_BRANCH] = "xxx", [DIF_FORMAT_LOAD] = "10D",
    [DIF_FORMAT_STORE] = "10D", [DIF_FORMAT_RET] = "00d",    [DIF_FORMAT_NONE] = "000",
    [DIF_FORMAT_SETX] = "xxD",  [DIF_FORMAT_SETS] = "xxD",   [DIF_FORMAT_LDA] = "x2D",
    [DIF_FORMAT_LDV] = "xxD",   [DIF_FORMAT_STV] = "xxd",    [DIF_FORMAT_CALL] = "xxD",
    [DIF_FORMAT_PUSHR] = "x2d", [DIF_FORMAT_PUSHV] = "x2d",  [DIF_FORMAT_COPY] = "12D",
};

static bool fields_ok(uint32_t i, const char *want)
{
    for (unsigned f = 0; f < 3; f++) {
        uint32_t field = i >> (16 - 8 * f) & 0xff;
        if ((want[f] == '0' && field) || (strchr("12dD", want[f]) && field > 7) ||
            (want[f] == 'D' && field == 0)) {
            return false;
        }
    }
    return true;
}

static bool declared(const struct dif_object *o, uint32_t id, uint8_t scope, uint8_t kind)
{
    for (uint32_t i = 0; i < o->nvars; i++) {
        const struct dif_variable *v = &o->vars[i];
        if (v->id == id && v->scope == scope && v->kind == kind) {
            return true;
        }
    }
    return false;
}

static bool variable_ok(const struct dif_object *o, uint32_t i)
{
    const char *name = n_ops[i >> 24].name;
    uint32_t id = i >> 8 & 0xffff;
    uint8_t scope = name[2] == 'g'   ? DIF_SCOPE_GLOBAL
                    : name[2] == 't' ? DIF_SCOPE_THREAD
                                     : DIF_SCOPE_LOCAL;

    if (id < 0x100) {
        return false;
    }
    if (id < 0x500) {
        return strcmp(name, "ldgs") == 0;
    }
    return declared(o, id, scope, name[3] == 'a' ? DIF_KIND_ARRAY : DIF_KIND_SCALAR);
}

static bool operands_ok(const struct dif_object *o, uint32_t at)
{
    uint32_t i = o->text[at], index = i >> 8 & 0xffff, type = i >> 16 & 0xff;

    switch (n_ops[i >> 24].format) {
    case DIF_FORMAT_BRANCH:
        return (i & 0xffffff) > at && (i & 0xffffff) < o->ntext;
    case DIF_FORMAT_SETX:
        return index < o->nints;
    case DIF_FORMAT_SETS:
        return index < o->strings_size;
    case DIF_FORMAT_LDV:
    case DIF_FORMAT_STV:
        return variable_ok(o, i);
    case DIF_FORMAT_CALL:
        return index <= 57;
    case DIF_FORMAT_PUSHR:
        return type == DIF_TYPE_CTF || type == DIF_TYPE_STRING;
    case DIF_FORMAT_PUSHV:
        return type == DIF_TYPE_CTF;
    default:
        return true;
    }
}

static bool type_ok(const struct dif_type *t)
{
    if (t->kind > 1 || t->ref > 1 || t->pad) {
        return false;
    }
    return t->kind == DIF_TYPE_STRING ? t->ref : !t->ref || t->size;
}

static bool declaration_ok(const struct dif_object *o, const struct dif_variable *v)
{
    bool array = v->kind == DIF_KIND_ARRAY;

    if (!type_ok(&v->type) || v->scope > 2 || v->kind > 1 || v->flags > 3 ||
        (v->name && v->name >= o->strings_size)) {
        return false;
    }
    if (v->id < 0x500) {
        return v->scope == DIF_SCOPE_GLOBAL && array == (v->id < 0x100) &&
               !(v->flags & DIF_FLAG_MOD);
    }
    if (array && v->scope == DIF_SCOPE_LOCAL) {
        return false;
    }
    return !v->type.ref || v->type.size <= (array ? 1 << 20 : 16384);
}

static bool result_ok(const struct dif_type *t)
{
    return type_ok(t) &&
           (t->ref || t->size == 0 || t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8);
}

const char *n_valid(const struct dif_object *o)
{
    if (o->ntext == 0 ||
        o->ntext * 4ull + o->nints * 8ull + o->nvars * 20ull + o->strings_size > 256 * 1024) {
        return "size";
    }
    if (o->strings_size && (o->strings[0] || o->strings[o->strings_size - 1])) {
        return "strings";
    }
    if (!result_ok(&o->result)) {
        return "result";
    }
    for (uint32_t i = 0; i < o->nvars; i++) {
        if (!declaration_ok(o, &o->vars[i])) {
            return "declaration";
        }
    }
    for (uint32_t at = 0; at < o->ntext; at++) {
        enum dif_format format = n_ops[o->text[at] >> 24].format;
        if (format == DIF_FORMAT_BAD || format == DIF_FORMAT_XLATE ||
            !fields_ok(o->text[at], fields[format]) || !operands_ok(o, at)) {
            return "instruction";
        }
    }
    return o->text[o->ntext - 1] >> 24 == DIF_OP_ret ? NULL : "no ret";
}

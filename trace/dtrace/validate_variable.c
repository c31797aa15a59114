/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules for variables and results of an object:
 *
 *   scope and kind are known; clause-local arrays don't exist
 *   built-in variables are global, of their own kind, and not written
 *   a string is by reference; other variables by reference have a size;
 *   variables have at most 16 KB, associative elements 1 MB
 *   a result is a C value of 0, 1, 2, 4 or 8 bytes, or by reference
 *
 * Control context. Each rule has its test in test/d_machine/validate_test.c.
 */
#include "trace/dtrace/validate.h"

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

enum dtrace_reason dtrace_validate_result(const struct dif_type *t)
{
    enum dtrace_reason reason = check_type(t);

    if (!reason && !t->ref && (t->size > 8 || (t->size & (t->size - 1)))) {
        reason = DTRACE_REASON_VALUE_SIZE;
    }
    return reason;
}

static enum dtrace_reason check_builtin(const struct dif_variable *v)
{
    bool array = v->id <= DIF_VAR_ARRAY_MAX;

    if (v->scope != DIF_SCOPE_GLOBAL || v->kind != (array ? DIF_KIND_ARRAY : DIF_KIND_SCALAR) ||
        v->flags & DIF_FLAG_MOD) {
        return DTRACE_REASON_BUILTIN_DECLARED;
    }
    return DTRACE_REASON_NONE;
}

enum dtrace_reason dtrace_validate_variable(const struct dif_object *o,
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
        return check_builtin(v);
    }
    if (v->kind == DIF_KIND_ARRAY && v->scope == DIF_SCOPE_LOCAL) {
        return DTRACE_REASON_LOCAL_ARRAY;
    }
    uint32_t most = v->kind == DIF_KIND_SCALAR ? DIF_STATIC_VAR_MAX : DIF_ELEMENT_MAX;
    return v->type.ref && v->type.size > most ? DTRACE_REASON_VARIABLE_SIZE : DTRACE_REASON_NONE;
}

enum dtrace_reason dtrace_validate_use(const struct dif_object *o, uint32_t id,
                                       enum dif_scope scope, enum dif_var_kind kind)
{
    for (uint32_t i = 0; i < o->nvars; i++) {
        const struct dif_variable *v = &o->vars[i];
        if (v->id == id && v->scope == scope && v->kind == kind) {
            return DTRACE_REASON_NONE;
        }
    }
    return DTRACE_REASON_NOT_DECLARED;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thread-local variables and associative arrays, on dynamic storage (dtrace_dynvar()). A variable
 * never assigned, or assigned 0, has no element and reads as zeros; but a thread-local string is
 * then NULL. See variable.h. Tested by test/d_machine/variable_test.c.
 */
#include "trace/dtrace/variable.h"

static uint8_t *variable_dynamic_find(struct dtrace_context *c, const struct dtrace_dynamic *v,
                                      enum dtrace_dynvar_how how)
{
    return dtrace_dynvar(c, v, v->array ? c->nkeys : 0, how);
}

uint64_t dtrace_dynamic_value(struct dtrace_context *c, const struct dtrace_dynamic *v)
{
    const uint8_t *data = variable_dynamic_find(c, v, DTRACE_DYNVAR_FIND);
    uint64_t value = 0;

    if (v->ref) {
        if (!data && (v->array || !v->string)) {
            data = c->code->zeros;
        }
        return (uintptr_t)data;
    }
    if (data) {
        __builtin_memcpy(&value, data, sizeof(value));
    }
    return value;
}

void dtrace_dynamic_store(struct dtrace_context *c, const struct dtrace_dynamic *v, uint64_t value)
{
    uint8_t *data =
        variable_dynamic_find(c, v, value ? DTRACE_DYNVAR_ALLOCATE : DTRACE_DYNVAR_FREE);

    if (!data || c->fault.kind != DIF_FAULT_NONE) {
        return;
    }
    if (v->ref && (uintptr_t)data == value) {
        return; /* assigned to itself: the compiler creates it this way before it stores a part */
    }
    if (!v->ref) {
        __builtin_memcpy(data, &value, sizeof(value));
    } else if (v->string) {
        dtrace_load_string(c, (char *)data, value, v->size, false);
    } else {
        dtrace_load_block(c, data, value, v->size, false);
    }
}

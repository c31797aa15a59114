/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thread-local variables and associative arrays, on what dynamic storage offers (d_dynvar()). Never
 * assigned, or assigned 0, there is no element: it reads as zeros; but a thread-local string is
 * then NULL. See variable.h. Tested by test/d_machine/variable_test.c.
 */
#include "trace/d/variable.h"

static uint8_t *find(struct d_context *c, const struct d_dynamic *v, enum d_dynvar_how how)
{
    return d_dynvar(c, v, v->array ? c->nkeys : 0, how);
}

uint64_t d_dynamic_value(struct d_context *c, const struct d_dynamic *v)
{
    const uint8_t *data = find(c, v, D_DYNVAR_FIND);
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

void d_dynamic_store(struct d_context *c, const struct d_dynamic *v, uint64_t value)
{
    uint8_t *data = find(c, v, value ? D_DYNVAR_ALLOCATE : D_DYNVAR_FREE);

    if (!data || c->fault.kind != DIF_FAULT_NONE) {
        return;
    }
    if (v->ref && (uintptr_t)data == value) {
        return; /* itself: the compiler has it created before it stores a part */
    }
    if (!v->ref) {
        __builtin_memcpy(data, &value, sizeof(value));
    } else if (v->string) {
        d_load_string(c, (char *)data, value, v->size, false);
    } else {
        d_load_block(c, data, value, v->size, false);
    }
}

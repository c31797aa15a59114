/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program's variables as the interpreter loads and stores them: globals and clause-locals by
 * reference, then thread-locals and associative arrays, which are in dynamic storage. Probe
 * context. Tested by test/trace/dtrace/machine/variable_test.c.
 */
#include "trace/assert.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/run.h"

/* ---- strings, structs and arrays of a fixed size ------------------------------------ */

/* Bytes before the data: not 0 if the variable was assigned NULL and so reads as NULL. */
enum { NULL_BEFORE = 8 };

uint64_t dtrace_static_address(const struct dtrace_static *v, const uint8_t *area)
{
    const uint8_t *data = area + v->offset;

    return data[-NULL_BEFORE] ? 0 : (uintptr_t)data;
}

void dtrace_static_store(struct dtrace_context *c, const struct dtrace_static *v, uint8_t *area,
                         uint64_t address)
{
    uint8_t *data = area + v->offset;

    trace_assert(v->offset >= NULL_BEFORE);
    data[-NULL_BEFORE] = address == 0;
    if (address == 0) {
        return;
    }
    if (v->string) {
        dtrace_load_string(c, (char *)data, address, v->size, false);
    } else {
        dtrace_load_block(c, data, address, v->size, false);
    }
}

/* ---- thread-locals and associative arrays ------------------------------------------ */

/* Returns the variable's data like dtrace_dynvar(). The thread caches its most recently found
 * scalar; only the thread itself removes it. */
static DTRACE_HOT uint8_t *variable_data(struct dtrace_context *c, const struct dtrace_dynamic *v,
                                         enum dtrace_dynvar_how how)
{
    const struct dtrace_thread *t = dtrace_port_thread_state();

    if (t->scalar == v->unique && how != DTRACE_DYNVAR_FREE) {
        return t->scalar_data;
    }
    return dtrace_dynvar(c, v, v->array ? c->nkeys : 0, how);
}

/* A variable never assigned, or assigned 0, has no element and reads as zeros; but a thread-local
 * string is then NULL. */
uint64_t dtrace_dynamic_value(struct dtrace_context *c, const struct dtrace_dynamic *v)
{
    const uint8_t *data = variable_data(c, v, DTRACE_DYNVAR_FIND);
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
    uint8_t *data = variable_data(c, v, value ? DTRACE_DYNVAR_ALLOCATE : DTRACE_DYNVAR_FREE);

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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Global and clause-local variables by reference: strings, structs, arrays. A string that was
 * assigned NULL reads as NULL. See variable.h. Tested by test/d_machine/variable_test.c.
 */
#include "trace/dtrace/variable.h"

enum { NULL_BEFORE = 8 }; /* bytes before the data: not 0 if the variable is NULL */

uint64_t dtrace_static_address(const struct dtrace_static *v, const uint8_t *area)
{
    const uint8_t *data = area + v->offset;

    return data[-NULL_BEFORE] ? 0 : (uintptr_t)data;
}

void dtrace_static_store(struct dtrace_context *c, const struct dtrace_static *v, uint8_t *area,
                         uint64_t address)
{
    uint8_t *data = area + v->offset;

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

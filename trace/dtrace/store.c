/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores of a D program: allowed to the scratch that its clause has taken and its own variables'
 * data. Elsewhere a store faults. Probe context. Tested by test/d_machine/memory_test.c.
 */
#include "trace/dtrace/machine.h"

/* Returns the variable at or before this offset; n > 0. At most 17 steps. */
static const struct dtrace_static *static_before(const struct dtrace_static *all, uint32_t n,
                                                 size_t offset)
{
    uint32_t low = 0, high = n;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (all[middle].offset <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &all[low];
}

static bool static_holds(const struct dtrace_static *all, uint32_t n, size_t offset, size_t bytes)
{
    if (n == 0) {
        return false;
    }
    const struct dtrace_static *s = static_before(all, n, offset);
    size_t at = offset - s->offset;
    return at < s->size && bytes <= s->size - at;
}

static bool scratch_holds(const struct dtrace_context *c, uintptr_t address, size_t bytes)
{
    uintptr_t at = address - (uintptr_t)c->scratch;

    return at < c->scratch_used && bytes <= c->scratch_used - at;
}

static bool variable_holds(struct dtrace_context *c, uintptr_t address, size_t bytes)
{
    const struct dtrace_code *code = c->code;

    return static_holds(code->globals, code->nglobals, address - (uintptr_t)c->globals, bytes) ||
           static_holds(code->locals, code->nlocals, address - (uintptr_t)c->locals, bytes) ||
           dtrace_dynvar_holds(c, address, bytes);
}

/* Sizes and addresses beyond this machine's range are never storable. */
static uint8_t *store_storable(struct dtrace_context *c, uint64_t address, uint64_t bytes,
                               bool variables)
{
    uintptr_t at = (uintptr_t)address;
    size_t size = (size_t)bytes;

    if (at == address && size == bytes &&
        (scratch_holds(c, at, size) || (variables && variable_holds(c, at, size)))) {
        return (uint8_t *)at;
    }
    dtrace_fault(c, DIF_FAULT_BADADDR, address);
    return NULL;
}

uint8_t *dtrace_storable(struct dtrace_context *c, uint64_t address, uint64_t bytes)
{
    return store_storable(c, address, bytes, true);
}

uint8_t *dtrace_storable_scratch(struct dtrace_context *c, uint64_t address, uint64_t bytes)
{
    return store_storable(c, address, bytes, false);
}

void dtrace_store(struct dtrace_context *c, uint64_t address, uint64_t value, unsigned bytes)
{
    uint8_t *p = dtrace_storable(c, address, bytes);

    if (!p) {
        return;
    }
    if (address & (bytes - 1)) {
        dtrace_fault(c, DIF_FAULT_BADALIGN, address);
        return;
    }
    __builtin_memcpy(p, &value, bytes); /* little-endian */
}

uint8_t *dtrace_scratch(struct dtrace_context *c, uint64_t bytes)
{
    size_t start = (c->scratch_used + 7) & ~(size_t)7;

    if (start == 0) {
        dtrace_scratch_find(c);
    }
    if (start > c->scratch_size || bytes > c->scratch_size - start) {
        dtrace_fault(c, DIF_FAULT_NOSCRATCH, 0);
        return NULL;
    }
    c->scratch_used = start + (size_t)bytes;
    return c->scratch + start;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a D program may store: the scratch its clause has taken, and its own variables' data.
 * Everywhere else a store faults. Of a firing. Tested by test/d_machine/memory_test.c.
 */
#include "trace/d/machine.h"

/* The variable at or before this offset; n > 0. At most 17 steps. */
static const struct d_static *static_before(const struct d_static *all, uint32_t n, size_t offset)
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

static bool static_holds(const struct d_static *all, uint32_t n, size_t offset, size_t bytes)
{
    if (n == 0) {
        return false;
    }
    const struct d_static *s = static_before(all, n, offset);
    size_t at = offset - s->offset;
    return at < s->size && bytes <= s->size - at;
}

static bool scratch_holds(const struct d_context *c, uintptr_t address, size_t bytes)
{
    uintptr_t at = address - (uintptr_t)c->scratch;

    return at < c->scratch_used && bytes <= c->scratch_used - at;
}

static bool variable_holds(struct d_context *c, uintptr_t address, size_t bytes)
{
    const struct d_code *code = c->code;

    return static_holds(code->globals, code->nglobals, address - (uintptr_t)c->globals, bytes) ||
           static_holds(code->locals, code->nlocals, address - (uintptr_t)c->locals, bytes) ||
           d_dynvar_holds(c, address, bytes);
}

/* Sizes and addresses that are too large for this machine are nowhere. */
static uint8_t *storable(struct d_context *c, uint64_t address, uint64_t bytes, bool variables)
{
    uintptr_t at = (uintptr_t)address;
    size_t size = (size_t)bytes;

    if (at == address && size == bytes &&
        (scratch_holds(c, at, size) || (variables && variable_holds(c, at, size)))) {
        return (uint8_t *)at;
    }
    d_fault(c, DIF_FAULT_BADADDR, address);
    return NULL;
}

uint8_t *d_storable(struct d_context *c, uint64_t address, uint64_t bytes)
{
    return storable(c, address, bytes, true);
}

uint8_t *d_storable_scratch(struct d_context *c, uint64_t address, uint64_t bytes)
{
    return storable(c, address, bytes, false);
}

void d_store(struct d_context *c, uint64_t address, uint64_t value, unsigned bytes)
{
    uint8_t *p = d_storable(c, address, bytes);

    if (!p) {
        return;
    }
    if (address & (bytes - 1)) {
        d_fault(c, DIF_FAULT_BADALIGN, address);
        return;
    }
    __builtin_memcpy(p, &value, bytes); /* little-endian */
}

uint8_t *d_scratch(struct d_context *c, uint64_t bytes)
{
    size_t start = (c->scratch_used + 7) & ~(size_t)7;

    if (start == 0) {
        d_scratch_find(c);
    }
    if (start > c->scratch_size || bytes > c->scratch_size - start) {
        d_fault(c, DIF_FAULT_NOSCRATCH, 0);
        return NULL;
    }
    c->scratch_used = start + (size_t)bytes;
    return c->scratch + start;
}

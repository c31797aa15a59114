/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores of a D program: allowed to the scratch that its clause has allocated and its own
 * variables' data. Any other store faults. Probe context. Tested by
 * test/trace/dtrace/machine/memory_test.c.
 */
#include "trace/dtrace/machine.h"

#include "trace/assert.h"

/* Returns whether these bytes are within one of the variables. Searches for the last one at or
 * before the offset, in at most 17 steps. */
static bool static_holds(const struct dtrace_static *all, uint32_t n, size_t offset, size_t bytes)
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
    size_t at = n ? offset - all[low].offset : 0;
    return n && at < all[low].size && bytes <= all[low].size - at;
}

/* Sizes and addresses beyond this machine's range are never storable. */
static uint8_t *store_storable(struct dtrace_context *c, uint64_t address, uint64_t bytes,
                               bool variables)
{
    const struct dtrace_code *code = c->code;
    uintptr_t at = (uintptr_t)address, in_scratch = at - (uintptr_t)c->scratch;
    size_t size = (size_t)bytes;

    trace_assert(bytes > 0);
    if (at == address && size == bytes &&
        ((in_scratch < c->scratch_used && size <= c->scratch_used - in_scratch) ||
         (variables &&
          (static_holds(code->globals, code->nglobals, at - (uintptr_t)c->globals, size) ||
           static_holds(code->locals, code->nlocals, at - (uintptr_t)c->locals, size) ||
           dtrace_dynvar_holds(c, at, size))))) {
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

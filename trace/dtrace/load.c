/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fault-safe loads. The machine's own memory is read directly; other addresses must be aligned
 * (where the port requires it) and not toxic, and are read by the port's peek. Probe context.
 * Tested by test/trace/dtrace/machine/memory_test.c.
 */
#include "trace/dtrace/machine.h"

#include "trace/assert.h"
#include "trace/dtrace/port.h"

void dtrace_fault(struct dtrace_context *c, enum dif_fault kind, uint64_t address)
{
    if (c->fault.kind == DIF_FAULT_NONE) {
        c->fault.kind = kind;
        c->fault.address = address;
    }
}

static bool load_within(const struct dtrace_region *r, uintptr_t address, size_t bytes)
{
    uintptr_t at = address - r->base;

    return at < r->size && bytes <= r->size - at;
}

const uint8_t *dtrace_own(const struct dtrace_context *c, uint64_t address64, size_t bytes)
{
    uintptr_t address = (uintptr_t)address64;
    struct dtrace_region scratch = {(uintptr_t)c->scratch, c->scratch_used};
    bool found = load_within(&scratch, address, bytes);

    for (unsigned i = 0; i < DTRACE_OWN_REGIONS && !found; i++) {
        found = load_within(&c->own[i], address, bytes);
    }
    for (uint32_t i = 0; i < c->nwindows && !found; i++) {
        found = load_within(&c->windows[i], address, bytes);
    }
    return found && address == address64 ? (const uint8_t *)address : NULL;
}

static uint64_t value_at(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;

    trace_assert(bytes && bytes <= sizeof(value) && (bytes & (bytes - 1)) == 0);
    __builtin_memcpy(&value, p, bytes); /* little-endian, like all of Kymo */
    return value;
}

/* Reads memory outside the machine. Returns false if it must not be read or the read faulted. */
static bool load_peek(const struct dtrace_context *c, void *to, uint64_t address, size_t bytes,
                      bool user)
{
    if (c->denied >> user & 1 || (uintptr_t)address != address || address + (bytes - 1) < address) {
        return false;
    }
    return !dtrace_port_toxic(address, bytes, user) && dtrace_port_peek(to, address, bytes, user);
}

static bool load_misaligned(struct dtrace_context *c, uint64_t address, unsigned bytes)
{
    if (!DTRACE_PORT_ALIGN || (address & (bytes - 1)) == 0) {
        return false;
    }
    dtrace_fault(c, DIF_FAULT_BADALIGN, address);
    return true;
}

static void load_failed(struct dtrace_context *c, uint64_t address, bool user)
{
    enum dif_fault denied = user ? DIF_FAULT_UPRIV : DIF_FAULT_KPRIV;

    dtrace_fault(c, c->denied >> user & 1 ? denied : DIF_FAULT_BADADDR, address);
}

static uint64_t peek_value(struct dtrace_context *c, uint64_t address, unsigned bytes, bool user)
{
    uint64_t value = 0;

    if (!load_peek(c, &value, address, bytes, user)) {
        load_failed(c, address, user);
        return 0;
    }
    return value;
}

uint64_t dtrace_load(struct dtrace_context *c, uint64_t address, unsigned bytes)
{
    if (load_misaligned(c, address, bytes)) {
        return 0;
    }
    const uint8_t *p = dtrace_own(c, address, bytes);
    return p ? value_at(p, bytes) : peek_value(c, address, bytes, false);
}

uint64_t dtrace_load_user(struct dtrace_context *c, uint64_t address, unsigned bytes)
{
    return load_misaligned(c, address, bytes) ? 0 : peek_value(c, address, bytes, true);
}

uint64_t dtrace_load_own(struct dtrace_context *c, uint64_t address, unsigned bytes)
{
    if (load_misaligned(c, address, bytes)) {
        return 0;
    }
    const uint8_t *p = dtrace_own(c, address, bytes);
    if (!p) {
        dtrace_fault(c, DIF_FAULT_KPRIV, address);
        return 0;
    }
    return value_at(p, bytes);
}

/* Reads all of it at once. Returns false if that isn't possible. */
static bool load_get(const struct dtrace_context *c, void *to, uint64_t address, size_t bytes,
                     bool user)
{
    const uint8_t *p = user ? NULL : dtrace_own(c, address, bytes);

    if (p) {
        __builtin_memmove(to, p, bytes);
        return true;
    }
    return load_peek(c, to, address, bytes, user);
}

/* A block that can't be read as a whole is read in pieces that end at a multiple of 16; of the
 * failing piece the first half is read, and so on, so that the fault is reported at the right byte.
 * Memory ends at a multiple of 16: a fault costs as many reads as 16 can be halved (cost.def). */
bool dtrace_load_block(struct dtrace_context *c, void *to, uint64_t address, size_t bytes,
                       bool user)
{
    uint8_t *out = to;

    if (bytes == 0 || load_get(c, to, address, bytes, user)) {
        return true;
    }
    while (bytes > 0) {
        size_t piece = 16 - (address & 15);
        piece = piece < bytes ? piece : bytes;
        while (!load_get(c, out, address, piece, user)) {
            if (piece == 1) {
                load_failed(c, address, user);
                return false;
            }
            piece /= 2;
        }
        out += piece;
        address += piece;
        bytes -= piece;
    }
    return true;
}

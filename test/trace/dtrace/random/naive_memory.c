/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The naive interpreter: memory. Own memory is the block of code and variables, dynamic variables,
 * the scratch that was taken, and built-in strings that were looked at; all else is maps. See
 * naive.h.
 */
#include "test/trace/dtrace/random/naive.h"

#include <string.h>

static bool inside(const struct n_region *r, uint64_t address, uint64_t bytes)
{
    uint64_t at = address - r->base;

    return at < r->size && bytes <= r->size - at;
}

static bool in_block(const struct naive *n, uint64_t address, uint64_t bytes)
{
    return inside(&n->block, address, bytes);
}

static bool in_dynamic(const struct naive *n, uint64_t address, uint64_t bytes)
{
    return inside(&n->dynamic, address, bytes);
}

static bool in_scratch(const struct naive *n, uint64_t address, uint64_t bytes)
{
    struct n_region used = n->scratch;

    used.size = n->scratch_used;
    return inside(&used, address, bytes);
}

/* A built-in string, as far as it may be read. */
static const char *in_window(const struct naive *n, uint64_t address, uint64_t bytes)
{
    for (unsigned i = 0; i < N_WINDOWS; i++) {
        size_t length = n->string_is[i] ? strlen(n->string_is[i]) + 1 : 0;
        struct n_region w = {.base = n->string_at[i],
                             .size = length < n->strsize ? length : n->strsize};
        if (n->windows >> i & 1 && inside(&w, address, bytes)) {
            return n->string_is[i] + (address - w.base);
        }
    }
    return NULL;
}

static bool own(const struct naive *n, uint64_t address, uint64_t bytes)
{
    return in_block(n, address, bytes) || in_dynamic(n, address, bytes) ||
           in_scratch(n, address, bytes) || in_window(n, address, bytes);
}

static const struct n_region *mapped(const struct naive *n, uint64_t address, uint64_t bytes,
                                     bool user)
{
    for (unsigned i = 0; i < n->nmaps; i++) {
        const struct n_region *m = &n->maps[i];
        if (inside(m, address, bytes)) {
            return !m->toxic && (user ? m->user : m->kernel) ? m : NULL;
        }
    }
    return NULL;
}

static uint8_t region_byte(struct naive *n, const struct n_region *r, uint64_t address)
{
    n->unknown |= r->known && !r->known[address - r->base];
    return r->bytes[address - r->base];
}

/* One that can be read. */
static uint8_t byte_at(struct naive *n, uint64_t address, bool user)
{
    const struct n_region *own_regions[] = {&n->scratch, &n->block, &n->dynamic};
    const bool in[] = {in_scratch(n, address, 1), in_block(n, address, 1),
                       in_dynamic(n, address, 1)};

    for (unsigned i = 0; i < 3 && !user; i++) {
        if (in[i]) {
            return region_byte(n, own_regions[i], address);
        }
    }
    const char *window = user ? NULL : in_window(n, address, 1);
    return window ? (uint8_t)*window : region_byte(n, mapped(n, address, 1, user), address);
}

static bool readable(const struct naive *n, uint64_t address, uint64_t bytes, bool user)
{
    return (!user && own(n, address, bytes)) || mapped(n, address, bytes, user);
}

bool n_byte(struct naive *n, uint64_t address, bool user, uint8_t *byte)
{
    if (!readable(n, address, 1, user)) {
        n_fault(n, DIF_FAULT_BADADDR, address);
        return false;
    }
    *byte = byte_at(n, address, user);
    return true;
}

uint64_t n_load(struct naive *n, uint64_t address, unsigned bytes, bool sign, char which)
{
    bool user = which == 'u';
    uint64_t value = 0;

    if (n->align && address % bytes) {
        n_fault(n, DIF_FAULT_BADALIGN, address);
        return 0;
    }
    if (which == 'r' && !own(n, address, bytes)) {
        n_fault(n, DIF_FAULT_KPRIV, address);
        return 0;
    }
    if (!readable(n, address, bytes, user)) {
        n_fault(n, DIF_FAULT_BADADDR, address);
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++) {
        value |= (uint64_t)byte_at(n, address + i, user) << 8 * i;
    }
    if (sign && value >> (8 * bytes - 1)) {
        value |= bytes == 8 ? 0 : UINT64_MAX << 8 * bytes;
    }
    return value;
}

/* Whole, as if it was read before any of it is written; or else by bytes up to the one that can't
 * be had. */
bool n_block(struct naive *n, uint8_t *to, uint64_t address, size_t bytes, bool user)
{
    static uint8_t copy[1 << 21];
    size_t got = 0;

    while (got < bytes && n_byte(n, address + got, user, &copy[got])) {
        got++;
    }
    memcpy(to, copy, got);
    return got == bytes;
}

size_t n_text(struct naive *n, uint64_t address, size_t limit, bool user, uint8_t *text)
{
    size_t i = 0;
    uint8_t byte;

    while (i < limit && n_byte(n, address + i, user, &byte) && byte) {
        if (text) {
            text[i] = byte;
        }
        i++;
    }
    return i;
}

/* ---- stores ------------------------------------------------------------------------ */

static const struct n_region *region_of(const struct naive *n, uint64_t address)
{
    return in_scratch(n, address, 1) ? &n->scratch
           : in_block(n, address, 1) ? &n->block
                                     : &n->dynamic;
}

static uint8_t *known_at(const struct naive *n, uint64_t address)
{
    const struct n_region *r = region_of(n, address);

    return &r->known[address - r->base];
}

uint8_t *n_at(struct naive *n, uint64_t address)
{
    const struct n_region *r = region_of(n, address);

    *known_at(n, address) = 1;
    return &r->bytes[address - r->base];
}

static bool in_variable(const struct naive *n, uint64_t address, uint64_t bytes)
{
    for (unsigned i = 0; i < n->nvars; i++) {
        const struct n_var *v = &n->vars[i];
        if (v->ref && v->address &&
            inside(&(struct n_region){.base = v->address, .size = v->size}, address, bytes)) {
            return true;
        }
    }
    for (unsigned i = 0; i < n->nelements; i++) {
        const struct n_element *e = &n->elements[i];
        struct n_region data = {.base = e->address, .size = e->used ? e->var->size : 0};
        if (e->used && inside(&data, address, bytes)) {
            return true;
        }
    }
    return false;
}

/* What lies there is known no better for being asked about: a copy may go onto itself. */
static bool storable(struct naive *n, uint64_t address, uint64_t bytes, bool variables)
{
    if (in_scratch(n, address, bytes) || (variables && in_variable(n, address, bytes))) {
        return true;
    }
    n_fault(n, DIF_FAULT_BADADDR, address);
    return false;
}

static void write_all(struct naive *n, uint64_t to, const uint8_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        *n_at(n, to + i) = from[i];
    }
}

static void copy_block(struct naive *n, uint64_t to, uint64_t from, size_t bytes, bool user)
{
    static uint8_t copy[1 << 21];
    size_t got = 0;

    while (got < bytes && n_byte(n, from + got, user, &copy[got])) {
        got++;
    }
    write_all(n, to, copy, got);
    if (got < bytes && to < from + bytes && from < to + bytes) {
        got = 0;
    }
    for (; got < bytes; got++) { /* a peek that faults leaves there what it likes */
        *known_at(n, to + got) = 0;
    }
}

void n_copy(struct naive *n, uint64_t to, uint64_t from, uint64_t bytes, bool user, bool variables)
{
    if (bytes && storable(n, to, bytes, variables)) {
        copy_block(n, to, from, (size_t)bytes, user);
    }
}

void n_store(struct naive *n, uint64_t address, uint64_t value, unsigned bytes)
{
    if (!storable(n, address, bytes, true)) {
        return;
    }
    if (address % bytes) {
        n_fault(n, DIF_FAULT_BADALIGN, address);
        return;
    }
    for (unsigned i = 0; i < bytes; i++) {
        *n_at(n, address + i) = (uint8_t)(value >> 8 * i);
    }
}

/* With its NUL, if that fits. */
void n_assign(struct naive *n, const struct n_var *v, uint64_t at, uint64_t from)
{
    uint8_t byte = 1;

    if (!v->string) {
        copy_block(n, at, from, v->size, false);
        return;
    }
    for (size_t i = 0; i < v->size && byte && n_byte(n, from + i, false, &byte); i++) {
        *n_at(n, at + i) = byte;
    }
}

/* ---- scratch ----------------------------------------------------------------------- */

static size_t begin(const struct naive *n)
{
    return (n->scratch_used + 7) / 8 * 8;
}

uint64_t n_scratch(struct naive *n, uint64_t bytes)
{
    size_t start = begin(n);

    if (start > n->scratch.size || bytes > n->scratch.size - start) {
        n_fault(n, DIF_FAULT_NOSCRATCH, 0);
        return 0;
    }
    n->scratch_used = start + (size_t)bytes;
    return n->scratch.base + start;
}

uint64_t n_string(struct naive *n, const uint8_t *text, size_t length)
{
    uint64_t at = n->fault == DIF_FAULT_NONE ? n_scratch(n, length + 1) : 0;

    if (at) {
        write_all(n, at, text, length);
        *n_at(n, at + length) = 0;
    }
    return at;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings: reading them wherever they are, comparing, and making new ones in scratch. Nothing here
 * goes on beyond the limit that it is given. Of a firing. Tested by test/d_machine/memory_test.c.
 */
#include "trace/d/text.h"

/* The machine's own memory is looked at where it is: all of the region that holds the address. */
static bool fetch_region(struct d_text *t, const struct d_region *r, uint64_t address)
{
    if (address - r->base >= r->size) {
        return false;
    }
    t->base = r->base;
    t->at = (const uint8_t *)(uintptr_t)r->base;
    t->size = r->size;
    return true;
}

static bool fetch_own(struct d_text *t, uint64_t address)
{
    const struct d_context *c = t->context;
    struct d_region scratch = {(uintptr_t)c->scratch, c->scratch_used};
    bool found = fetch_region(t, &scratch, address);

    for (unsigned i = 0; i < D_OWN_REGIONS && !found; i++) {
        found = fetch_region(t, &c->own[i], address);
    }
    for (uint32_t i = 0; i < c->nwindows && !found; i++) {
        found = fetch_region(t, &c->windows[i], address);
    }
    return found;
}

/* Other memory is copied, a few bytes at a time. d_load_block() may fault behind the byte that is
 * asked for: that is forgiven, the byte itself is there. */
uint8_t d_text_fetch(struct d_text *t, uint64_t address)
{
    struct d_context *c = t->context;
    size_t piece = D_TEXT_CHUNK - (address & (D_TEXT_CHUNK - 1));

    if (!t->user && fetch_own(t, address)) {
        return t->at[address - t->base];
    }
    t->base = address;
    t->at = t->chunk;
    t->size = c->fault.kind == DIF_FAULT_NONE ? piece : 0;
    if (t->size == 0) {
        return 0; /* nothing more is read after a fault */
    }
    if (!d_load_block(c, t->chunk, address, piece, t->user)) {
        t->size = c->fault.address - address;
        if (t->size == 0) {
            return 0;
        }
        c->fault.kind = DIF_FAULT_NONE;
    }
    return t->chunk[0];
}

size_t d_text_length(struct d_context *c, uint64_t address, size_t limit)
{
    struct d_text t;
    size_t n = 0;

    d_text_open(&t, c, false);
    while (n < limit && d_text_byte(&t, address + n) != 0) {
        n++;
    }
    return n;
}

int d_text_compare(struct d_context *c, uint64_t a, uint64_t b, size_t limit)
{
    struct d_text ta, tb;

    d_text_open(&ta, c, false);
    d_text_open(&tb, c, false);
    for (size_t i = 0; i < limit; i++) {
        uint8_t ca = a ? d_text_byte(&ta, a + i) : 0;
        uint8_t cb = b ? d_text_byte(&tb, b + i) : 0;
        if (ca != cb || ca == 0) {
            return (int)ca - (int)cb;
        }
    }
    return 0;
}

/* A built-in string, whose length is known. */
static const struct d_region *window_at(const struct d_context *c, uint64_t address)
{
    for (uint32_t i = 0; i < c->nwindows; i++) {
        if (c->windows[i].base == address) {
            return &c->windows[i];
        }
    }
    return NULL;
}

/* Copies what is at hand, until a NUL (true) or its end. */
static bool copy_piece(struct d_text *t, char *to, uint64_t address, size_t limit, size_t *n)
{
    const uint8_t *from = t->at + (address - t->base);
    size_t most = t->size - (size_t)(address - t->base), i = 0;

    most = most < limit ? most : limit;
    while (i < most && from[i]) {
        to[i] = (char)from[i];
        i++;
    }
    *n += i;
    if (i < most) {
        to[i] = '\0';
    }
    return i < most;
}

size_t d_load_string(struct d_context *c, char *to, uint64_t address, size_t limit, bool user)
{
    const struct d_region *window = user ? NULL : window_at(c, address);
    struct d_text t;
    size_t n = 0;

    if (window && window->size <= limit) {
        __builtin_memcpy(to, (const char *)(uintptr_t)address, (size_t)window->size);
        return (size_t)window->size - (to[window->size - 1] == '\0');
    }
    d_text_open(&t, c, user);
    while (n < limit) {
        d_text_fetch(&t, address + n);
        if (c->fault.kind != DIF_FAULT_NONE || copy_piece(&t, to + n, address + n, limit - n, &n)) {
            break;
        }
    }
    return n;
}

/* What is taken of scratch is known when the string ends. */
void d_writer_open(struct d_writer *w, struct d_context *c, size_t limit)
{
    size_t start = (c->scratch_used + 7) & ~(size_t)7;

    if (start == 0) {
        d_scratch_find(c);
    }
    w->context = c;
    w->at = c->scratch + start;
    w->room = start < c->scratch_size ? c->scratch_size - start : 0;
    w->limit = limit;
    w->length = 0;
}

uint64_t d_writer_close(struct d_writer *w)
{
    struct d_context *c = w->context;

    if (c->fault.kind != DIF_FAULT_NONE) {
        return 0;
    }
    if (w->length >= w->room) {
        d_fault(c, DIF_FAULT_NOSCRATCH, 0);
        return 0;
    }
    w->at[w->length] = 0;
    c->scratch_used = (size_t)(w->at + w->length + 1 - c->scratch);
    return (uintptr_t)w->at;
}

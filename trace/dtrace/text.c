/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings: fault-safe reads, comparisons, and new strings in scratch. No function reads beyond its
 * limit. Probe context. Tested by test/trace/dtrace/machine/memory_test.c.
 */
#include "trace/dtrace/text.h"

#include "trace/assert.h"

/* External definitions, for callers that don't inline them. */
extern inline uint8_t dtrace_text_byte(struct dtrace_text *, size_t);
extern inline void dtrace_writer_put(struct dtrace_writer *, uint8_t);

/* Accesses the machine's own memory in place: the whole region that contains byte i. */
static bool fetch_region(struct dtrace_text *t, const struct dtrace_region *r, uintptr_t address,
                         size_t i)
{
    uintptr_t at = address - r->base;

    if (at >= r->size) {
        return false;
    }
    t->at = (const uint8_t *)r->base;
    t->first = i - at;
    t->size = r->size;
    return true;
}

/* Copies other memory, a few bytes at a time. dtrace_load_block() may fault after the requested
 * byte: that fault is cleared, because the byte itself was read. */
uint8_t dtrace_text_fetch(struct dtrace_text *t, size_t i)
{
    struct dtrace_context *c = t->context;
    uint64_t address = t->address + i;
    size_t piece = DTRACE_TEXT_CHUNK - ((size_t)address & (DTRACE_TEXT_CHUNK - 1));

    if (!t->user && (uintptr_t)address == address) {
        const struct dtrace_region scratch = {(uintptr_t)c->scratch, c->scratch_used};
        bool found = fetch_region(t, &scratch, (uintptr_t)address, i);
        for (unsigned n = 0; n < DTRACE_OWN_REGIONS && !found; n++) {
            found = fetch_region(t, &c->own[n], (uintptr_t)address, i);
        }
        for (uint32_t n = 0; n < c->nwindows && !found; n++) {
            found = fetch_region(t, &c->windows[n], (uintptr_t)address, i);
        }
        if (found) {
            trace_assert(i - t->first < t->size);
            return t->at[i - t->first];
        }
    }
    t->at = t->chunk;
    t->first = i;
    t->size = c->fault.kind == DIF_FAULT_NONE ? piece : 0;
    if (t->size == 0) {
        return 0; /* nothing more is read after a fault */
    }
    if (!dtrace_load_block(c, t->chunk, address, piece, t->user)) {
        t->size = (size_t)(c->fault.address - address);
        if (t->size == 0) {
            return 0;
        }
        c->fault.kind = DIF_FAULT_NONE;
    }
    return t->chunk[0];
}

size_t dtrace_text_length(struct dtrace_context *c, uint64_t address, size_t limit)
{
    struct dtrace_text t;
    size_t n = 0;

    dtrace_text_open(&t, c, address, false);
    while (n < limit && dtrace_text_byte(&t, n) != 0) {
        n++;
    }
    return n;
}

int dtrace_text_compare(struct dtrace_context *c, uint64_t a, uint64_t b, size_t limit)
{
    struct dtrace_text ta, tb;

    dtrace_text_open(&ta, c, a, false);
    dtrace_text_open(&tb, c, b, false);
    for (size_t i = 0; i < limit; i++) {
        uint8_t ca = a ? dtrace_text_byte(&ta, i) : 0;
        uint8_t cb = b ? dtrace_text_byte(&tb, i) : 0;
        if (ca != cb || ca == 0) {
            return (int)ca - (int)cb;
        }
    }
    return 0;
}

size_t dtrace_load_string(struct dtrace_context *c, char *to, uint64_t address, size_t limit,
                          bool user)
{
    struct dtrace_text t;
    size_t n = 0;

    for (uint32_t i = 0; !user && i < c->nwindows; i++) { /* a built-in string: its size is known */
        const struct dtrace_region *window = &c->windows[i];
        if (window->base == address && window->size <= limit) {
            __builtin_memcpy(to, (const char *)window->base, window->size);
            return window->size - (to[window->size - 1] == '\0');
        }
    }
    dtrace_text_open(&t, c, address, user);
    while (n < limit) {
        dtrace_text_fetch(&t, n);
        if (c->fault.kind != DIF_FAULT_NONE) {
            break;
        }
        const uint8_t *from = t.at + (n - t.first), *end = t.at + t.size;
        while (from < end && n < limit && *from) {
            to[n++] = (char)*from++;
        }
        if (from < end && n < limit) {
            to[n] = '\0';
            break;
        }
    }
    return n;
}

/* The amount of scratch used is known when the string ends. */
void dtrace_writer_open(struct dtrace_writer *w, struct dtrace_context *c, size_t limit)
{
    size_t start = (c->scratch_used + 7) & ~(size_t)7;

    if (start == 0) {
        dtrace_scratch_find(c);
    }
    w->context = c;
    w->at = c->scratch + start;
    w->room = start < c->scratch_size ? c->scratch_size - start : 0;
    w->limit = limit;
    w->length = 0;
}

uint64_t dtrace_writer_close(struct dtrace_writer *w)
{
    struct dtrace_context *c = w->context;

    trace_assert(w->length <= w->limit);
    if (c->fault.kind != DIF_FAULT_NONE) {
        return 0;
    }
    if (w->length >= w->room) {
        dtrace_fault(c, DIF_FAULT_NOSCRATCH, 0);
        return 0;
    }
    w->at[w->length] = 0;
    c->scratch_used = (size_t)(w->at + w->length + 1 - c->scratch);
    return (uintptr_t)w->at;
}

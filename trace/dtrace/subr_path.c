/* SPDX-License-Identifier: BSD-2-Clause */
/* Subroutines about paths. Probe context. Tested by test/trace/dtrace/machine/subr_test.c. */
#include "trace/dtrace/subr.h"

/* Offsets of a path's parts; -1: missing. The base follows the last slash that is not at the end;
 * the directory is everything before it, without the slashes between. */
struct path {
    struct dtrace_text text;
    int32_t base_first, base_last, directory_last;
};

/* Returns the first offset from i down that is (or isn't) a slash, or -1. */
static int32_t back_to(struct path *p, int32_t i, bool slash)
{
    while (i >= 0 && (dtrace_text_byte(&p->text, (size_t)i) == '/') != slash) {
        i--;
    }
    return i;
}

static void path_open(struct path *p, struct dtrace_context *c)
{
    dtrace_text_open(&p->text, c, dtrace_arg(c, 0), false);
    p->base_last = back_to(p, (int32_t)dtrace_arg_length(c, 0) - 1, false);
    int32_t slash = back_to(p, p->base_last, true);
    p->base_first = slash + 1;
    p->directory_last = slash < 0 ? -1 : back_to(p, slash, false);
    if (slash >= 0 && p->directory_last < 0) {
        p->directory_last = 0; /* the root */
    }
}

static uint64_t subr_path_part(struct path *p, struct dtrace_context *c, int32_t first,
                               int32_t last)
{
    struct dtrace_writer w;

    dtrace_writer_open(&w, c, c->code->strsize - 1);
    for (int32_t i = first; i <= last; i++) {
        dtrace_writer_put(&w, dtrace_text_byte(&p->text, (size_t)i));
    }
    return dtrace_writer_close(&w);
}

static uint64_t one_character(struct dtrace_context *c, uint8_t byte)
{
    struct dtrace_writer w;

    dtrace_writer_open(&w, c, c->code->strsize - 1);
    dtrace_writer_put(&w, byte);
    return dtrace_writer_close(&w);
}

uint64_t dtrace_subr_basename(struct dtrace_context *c)
{
    struct path p;

    path_open(&p, c);
    if (p.base_last < 0) { /* empty, or only slashes */
        return one_character(c, dtrace_arg_length(c, 0) ? '/' : '.');
    }
    return subr_path_part(&p, c, p.base_first, p.base_last);
}

uint64_t dtrace_subr_dirname(struct dtrace_context *c)
{
    struct path p;

    path_open(&p, c);
    if (p.base_last < 0) {
        return one_character(c, dtrace_arg_length(c, 0) ? '/' : '.');
    }
    return p.directory_last < 0 ? one_character(c, '.')
                                : subr_path_part(&p, c, 0, p.directory_last);
}

/* A path being cleaned. pending: the number of characters of "/.." that were read and are not yet
 * decided. */
struct cleaner {
    uint8_t *to;
    size_t n;
    unsigned pending;
};

/* Adds a byte of the path, or 0 at its end. */
static void clean_byte(struct cleaner *k, uint8_t byte)
{
    static const uint8_t up[] = {'/', '.', '.'};

    if (k->pending == 3 && (byte == '/' || byte == 0)) {
        /* removes the last component; at the end of the path the slash before it remains */
        if (k->n == 0) {
            k->to[0] = '/';
        }
        while (k->n > 0 && k->to[--k->n] != '/') {
        }
        k->pending = byte != 0;
        k->n += byte == 0;
    } else if (byte == '/' && k->pending <= 2) { /* "/", "//", "/./" */
        k->pending = 1;
    } else if (byte == '.' && (k->pending == 1 || k->pending == 2)) {
        k->pending++;
    } else {
        for (unsigned i = 0; i < k->pending; i++) {
            k->to[k->n++] = up[i];
        }
        if (byte) {
            k->to[k->n++] = byte;
        }
        k->pending = 0;
    }
}

uint64_t dtrace_subr_cleanpath(struct dtrace_context *c)
{
    uint32_t size = c->code->strsize;
    size_t length = dtrace_arg_length(c, 0);
    struct cleaner k = {dtrace_scratch(c, size), 0, 0};
    struct dtrace_text t;

    if (!k.to) {
        return 0;
    }
    dtrace_text_open(&t, c, dtrace_arg(c, 0), false);
    /* Five more bytes must always fit: the pending ones, a byte, the NUL. */
    for (size_t i = 0; i <= length && k.n + 5 < size; i++) {
        clean_byte(&k, i < length ? dtrace_text_byte(&t, i) : 0);
    }
    k.to[k.n] = '\0';
    c->scratch_used = (size_t)(k.to + k.n + 1 - c->scratch);
    return (uintptr_t)k.to;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session's memory. Nothing is freed before the session is, so that an error may leave the
 * compiler by longjmp() from anywhere.
 */
#include "host/dt/base/session.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024, ALIGNMENT = 16 };

struct dt_arena_block {
    struct dt_arena_block *next;
    size_t used, room;
    _Alignas(ALIGNMENT) char bytes[];
};

void dt_no_memory(void)
{
    fputs("dtrace: out of memory\n", stderr);
    exit(1);
}

static struct dt_arena_block *arena_block_new(size_t room)
{
    struct dt_arena_block *b = room < SIZE_MAX / 2 ? calloc(1, sizeof(*b) + room) : NULL;

    if (!b) {
        dt_no_memory();
    }
    b->room = room;
    return b;
}

void *dt_arena_alloc(struct dt_arena *a, size_t size)
{
    struct dt_arena_block *b = a->blocks;

    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!b || b->room - b->used < size) {
        b = arena_block_new(size > BLOCK_BYTES ? size : BLOCK_BYTES);
        if (a->blocks && size > BLOCK_BYTES / 4) { /* a big one leaves the current block in use */
            b->next = a->blocks->next;
            a->blocks->next = b;
        } else {
            b->next = a->blocks;
            a->blocks = b;
        }
    }
    void *p = b->bytes + b->used;
    b->used += size;
    return p;
}

void dt_arena_free(struct dt_arena *a)
{
    while (a->blocks) {
        struct dt_arena_block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
}

void *dt_alloc(struct dt_session *d, size_t size)
{
    return dt_arena_alloc(&d->arena, size);
}

const char *dt_strndup(struct dt_session *d, const char *text, size_t n)
{
    char *copy = dt_alloc(d, n + 1);

    memcpy(copy, text, n);
    return copy;
}

const char *dt_strdup(struct dt_session *d, const char *text)
{
    return dt_strndup(d, text, strlen(text));
}

const char *dt_vsprintf(struct dt_session *d, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = dt_alloc(d, (size_t)(n < 0 ? 0 : n) + 1);
    vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, format, again);
    va_end(again);
    return text;
}

const char *dt_sprintf(struct dt_session *d, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const char *text = dt_vsprintf(d, format, args);
    va_end(args);
    return text;
}

void dt_room(struct dt_session *d, struct dt_array *a, size_t size)
{
    if (a->n < a->room) {
        return;
    }
    unsigned room = a->room ? a->room * 2 : 16;
    void *data = dt_alloc(d, room * size);
    if (a->n) {
        memcpy(data, a->data, a->n * size);
    }
    a->data = data;
    a->room = room;
}

void *dt_list_add(struct dt_session *d, struct dt_array *a, size_t size)
{
    dt_room(d, a, size);
    return memset((char *)a->data + size * a->n++, 0, size);
}

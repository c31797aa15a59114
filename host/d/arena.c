/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session's memory. Nothing is freed before the session is, so that an error may leave the
 * compiler by longjmp() from anywhere.
 */
#include "host/d/arena.h"
#include "host/d/front.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024, ALIGNMENT = 16 };

struct d_arena_block {
    struct d_arena_block *next;
    size_t used, room;
    _Alignas(ALIGNMENT) char bytes[];
};

static struct d_arena_block *block_new(size_t room)
{
    struct d_arena_block *b = room < SIZE_MAX / 2 ? calloc(1, sizeof(*b) + room) : NULL;

    if (!b) {
        fputs("dtrace: out of memory\n", stderr);
        abort();
    }
    b->room = room;
    return b;
}

void *d_arena_alloc(struct d_arena *a, size_t size)
{
    struct d_arena_block *b = a->blocks;

    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!b || b->room - b->used < size) {
        b = block_new(size > BLOCK_BYTES ? size : BLOCK_BYTES);
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

void d_arena_free(struct d_arena *a)
{
    while (a->blocks) {
        struct d_arena_block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
}

void *d_alloc(struct d_session *d, size_t size)
{
    return d_arena_alloc(&d->arena, size);
}

const char *d_strndup(struct d_session *d, const char *text, size_t n)
{
    char *copy = d_alloc(d, n + 1);

    memcpy(copy, text, n);
    return copy;
}

const char *d_strdup(struct d_session *d, const char *text)
{
    return d_strndup(d, text, strlen(text));
}

const char *d_vsprintf(struct d_session *d, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = d_alloc(d, (size_t)(n < 0 ? 0 : n) + 1);
    vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, format, again);
    va_end(again);
    return text;
}

const char *d_sprintf(struct d_session *d, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const char *text = d_vsprintf(d, format, args);
    va_end(args);
    return text;
}

void d_room(struct d_session *d, struct d_array *a, size_t size)
{
    if (a->n < a->room) {
        return;
    }
    unsigned room = a->room ? a->room * 2 : 16;
    void *data = d_alloc(d, room * size);
    if (a->n) {
        memcpy(data, a->data, a->n * size);
    }
    a->data = data;
    a->room = room;
}

void *d_list_add(struct d_session *d, struct d_array *a, size_t size)
{
    d_room(d, a, size);
    return memset((char *)a->data + size * a->n++, 0, size);
}

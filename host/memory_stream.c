/* SPDX-License-Identifier: BSD-2-Clause */
/* See memory_stream.h. */
#define _GNU_SOURCE 1 /* fopencookie() */
#include "host/memory_stream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct memory {
    char **text;
    size_t *size;
    char *bytes;
    size_t used, room;
    bool failed;
};

static ssize_t stream_memory_write(void *cookie, const char *bytes, size_t n)
{
    struct memory *memory = cookie;

    if (n >= memory->room - memory->used) {
        size_t room = 2 * (memory->used + n) + 1;
        char *grown = memory->failed ? NULL : realloc(memory->bytes, room);

        if (grown == NULL) {
            memory->failed = true;
            return 0;
        }
        memory->bytes = grown;
        memory->room = room;
    }
    memcpy(memory->bytes + memory->used, bytes, n);
    memory->used += n;
    return (ssize_t)n;
}

static int stream_memory_close(void *cookie)
{
    struct memory *memory = cookie;
    bool failed = memory->failed;
    char *cut = failed ? NULL : realloc(memory->bytes, memory->used + 1);

    memory->bytes = cut == NULL ? memory->bytes : cut;
    memory->bytes[memory->used] = '\0';
    *memory->text = failed ? NULL : memory->bytes;
    *memory->size = failed ? 0 : memory->used;
    if (failed) {
        free(memory->bytes);
    }
    free(memory);
    return failed ? -1 : 0;
}

FILE *memory_stream(char **text, size_t *size)
{
    struct memory *memory = malloc(sizeof(*memory));
    char *bytes = malloc(1);
    FILE *stream = memory == NULL || bytes == NULL
                       ? NULL
                       : fopencookie(memory, "w",
                                     (cookie_io_functions_t){.write = stream_memory_write,
                                                             .close = stream_memory_close});

    *text = NULL;
    *size = 0;
    if (stream == NULL) {
        free(memory);
        free(bytes);
        return NULL;
    }
    *memory = (struct memory){.text = text, .size = size, .bytes = bytes, .room = 1};
    return stream;
}

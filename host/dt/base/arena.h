/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that lives as long as its session: given out in pieces, freed all at once. No function
 * returns NULL: without memory the program ends. Internal to host/dt.
 */
#ifndef HOST_DT_BASE_ARENA_H
#define HOST_DT_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct dt_arena_block;
struct dt_arena {
    struct dt_arena_block *blocks; /* the newest first */
};

void dt_arena_free(struct dt_arena *);

struct dt_session;
void *dt_alloc(struct dt_session *, size_t); /* zeroed, aligned to 16 */
const char *dt_strdup(struct dt_session *, const char *);
const char *dt_strndup(struct dt_session *, const char *, size_t);
const char *dt_sprintf(struct dt_session *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *dt_vsprintf(struct dt_session *, const char *format, va_list);

struct dt_array { /* grows in the arena */
    void *data;
    unsigned n, room;
};
/* Makes room for one more element of `size` bytes. */
/* Reports that there is no memory, and ends the process. */
_Noreturn void dt_no_memory(void);
void dt_room(struct dt_session *, struct dt_array *, size_t size);
/* Returns a new zeroed last element of `size` bytes. Earlier ones may move. */
void *dt_list_add(struct dt_session *, struct dt_array *, size_t size);

#endif

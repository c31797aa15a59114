/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings in memory that may not be there: a reader that gets bytes by address, and a writer into
 * scratch. To the subroutines and to what stores strings. Of a firing.
 */
#ifndef TRACE_D_TEXT_H
#define TRACE_D_TEXT_H

#include "trace/d/machine.h"

enum { D_TEXT_CHUNK = 16 }; /* never crosses a page */

struct d_text {
    struct d_context *context;
    uint64_t address;  /* of byte 0 */
    const uint8_t *at; /* bytes `first` and on, `size` of them, are at hand here */
    size_t first, size;
    bool user;
    uint8_t chunk[D_TEXT_CHUNK];
};

static inline void d_text_open(struct d_text *t, struct d_context *c, uint64_t address, bool user)
{
    t->context = c;
    t->address = address;
    t->size = 0;
    t->user = user;
}

/* Gets at hand what is at byte i, and returns it. 0 and a fault if it can't be had. */
uint8_t d_text_fetch(struct d_text *, size_t i);

inline uint8_t d_text_byte(struct d_text *t, size_t i)
{
    return i - t->first < t->size ? t->at[i - t->first] : d_text_fetch(t, i);
}

/* Bytes before the NUL, at most `limit`. After a fault: as many as there were. */
size_t d_text_length(struct d_context *, uint64_t address, size_t limit);
/* Below, at or above 0. NULL is an empty string. */
int d_text_compare(struct d_context *, uint64_t a, uint64_t b, size_t limit);

/* A string that grows in scratch, cut to `limit` bytes. */
struct d_writer {
    struct d_context *context;
    uint8_t *at;
    size_t room, limit, length;
};

void d_writer_open(struct d_writer *, struct d_context *, size_t limit);
inline void d_writer_put(struct d_writer *w, uint8_t byte)
{
    if (w->length < w->limit) {
        if (w->length < w->room) {
            w->at[w->length] = byte;
        }
        w->length++;
    }
}
/* Ends it; its address, or 0 and a fault if scratch has no room. */
uint64_t d_writer_close(struct d_writer *);

#endif

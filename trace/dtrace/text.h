/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fault-safe access to strings: a reader that fetches bytes by address, and a writer into scratch.
 * For the subroutines and for storing strings. Probe context.
 */
#ifndef TRACE_DTRACE_TEXT_H
#define TRACE_DTRACE_TEXT_H

#include "trace/dtrace/machine.h"

enum { DTRACE_TEXT_CHUNK = 16 }; /* never crosses a page */

struct dtrace_text {
    struct dtrace_context *context;
    uint64_t address;  /* of byte 0 */
    const uint8_t *at; /* `size` bytes from number `first` on are buffered at this address */
    size_t first, size;
    bool user;
    uint8_t chunk[DTRACE_TEXT_CHUNK];
};

static inline void dtrace_text_open(struct dtrace_text *t, struct dtrace_context *c,
                                    uint64_t address, bool user)
{
    t->context = c;
    t->address = address;
    t->size = 0;
    t->user = user;
}

/* Buffers and returns byte i. Returns 0 and faults if it is inaccessible. */
uint8_t dtrace_text_fetch(struct dtrace_text *, size_t i);

inline uint8_t dtrace_text_byte(struct dtrace_text *t, size_t i)
{
    return i - t->first < t->size ? t->at[i - t->first] : dtrace_text_fetch(t, i);
}

/* Returns the number of bytes before the NUL, at most `limit`; after a fault, of those before the
 * fault. */
size_t dtrace_text_length(struct dtrace_context *, uint64_t address, size_t limit);
/* Returns a value below, equal to or above 0. NULL counts as an empty string. */
int dtrace_text_compare(struct dtrace_context *, uint64_t a, uint64_t b, size_t limit);

/* A string that grows in scratch, truncated to `limit` bytes. */
struct dtrace_writer {
    struct dtrace_context *context;
    uint8_t *at;
    size_t room, limit, length;
};

void dtrace_writer_open(struct dtrace_writer *, struct dtrace_context *, size_t limit);
inline void dtrace_writer_put(struct dtrace_writer *w, uint8_t byte)
{
    if (w->length < w->limit) {
        if (w->length < w->room) {
            w->at[w->length] = byte;
        }
        w->length++;
    }
}
/* Appends a number; digits above 9 are lower-case letters. (subr_number.c) */
void dtrace_writer_number(struct dtrace_writer *, uint32_t base, uint64_t value);
/* Ends the string. Returns its address, or 0 after a fault if scratch has no room. */
uint64_t dtrace_writer_close(struct dtrace_writer *);

#endif

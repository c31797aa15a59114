/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture's header, written by the recording system (docs/reference/format.md §1, §2): text
 * attributes, the system page, and CHECK and BUFFER_END for both. One thread; no memory except
 * about 1 KB of stack.
 */
#ifndef LIB_CAPTURE_HEADER_H
#define LIB_CAPTURE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/capture/check.h"
#include "lib/capture/losses.h"
#include "lib/panic/text.h"

struct capture_header {
    const char *file;       /* destination, for the header */
    const char *args;       /* the command line */
    const char *const *own; /* KEY=VALUE, as given: the last one comes first */
    unsigned own_count;
    uint64_t now; /* seconds since 1970 if this system has no real-time clock; 0: unknown */
    /* Returns the bytes read, or -1. NULL: this system's page. */
    long (*page)(uint32_t offset, void *to, uint32_t bytes);
    /* Further attributes: entry n. NULL: none. */
    bool (*rows)(unsigned n, char key[PANIC_KEY], char value[PANIC_VALUE]);
    struct capture_check *check; /* begun here; the capture's groups are added to it */
};

/* Returns 0; 1: the page can't be read, with errno; -1: `put` has failed. */
int capture_header_write(const struct capture_header *header, capture_put_t put, void *to);

#endif

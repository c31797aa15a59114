/* SPDX-License-Identifier: BSD-2-Clause */
/* The header of a capture: text attributes and the system page. */
#ifndef TRACELOGGER_HEADER_H
#define TRACELOGGER_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/capture/header.h"
#include "tracelogger/options.h"

/* Returns whether `key` is the key of an attribute that every capture has, or every recovered
 * one. */
bool header_has(const char *key, size_t length);
/* Source of the page (returns bytes or -1), and further attributes: entry n. NULL: this system's
 * page; no attributes. */
struct header_source {
    long (*page)(uint32_t offset, void *to, uint32_t bytes);
    bool (*rows)(unsigned n, char key[PANIC_KEY], char value[PANIC_VALUE]);
};
/* Write both to the sink. Return 0 or -1 (reported). */
int header_write(const struct options *options);
int header_write_from(const struct options *options, const struct header_source *source);

#endif

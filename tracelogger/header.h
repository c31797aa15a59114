/* SPDX-License-Identifier: BSD-2-Clause */
/* The beginning of a capture: text attributes and the system page. */
#ifndef TRACELOGGER_HEADER_H
#define TRACELOGGER_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "tracelogger/options.h"

/* Whether it is the key of an attribute that every capture has. */
bool header_has(const char *key, size_t length);
/* Writes both to the sink. 0 or -1 (reported). */
int header_write(const struct options *options);

#endif

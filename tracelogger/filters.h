/* SPDX-License-Identifier: BSD-2-Clause */
/* What the capture's header says of the filters that are in force at START: docs/format.md §1. */
#ifndef TRACELOGGER_FILTERS_H
#define TRACELOGGER_FILTERS_H

#include <stdbool.h>

#include "lib/panic/text.h"
#include "tracelogger/options.h"

/* The options that filters_row() tells of. */
void filters_set(const struct options *options);
/* Attribute FILTER_1 + n. False: there are no more. */
bool filters_row(unsigned n, char key[PANIC_KEY], char value[PANIC_VALUE]);

#endif

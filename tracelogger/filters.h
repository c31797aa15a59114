/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes of the capture's header for the filters in force at START: docs/reference/format.md
 * §1. */
#ifndef TRACELOGGER_FILTERS_H
#define TRACELOGGER_FILTERS_H

#include <stdbool.h>

#include "lib/panic/text.h"
#include "tracelogger/options.h"

/* Sets the options that filters_row() reports. */
void filters_set(const struct options *options);
/* Returns attribute FILTER_1 + n; false: there are no more. */
bool filters_row(unsigned n, char key[PANIC_KEY], char value[PANIC_VALUE]);

#endif

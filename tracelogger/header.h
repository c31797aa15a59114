/* SPDX-License-Identifier: BSD-2-Clause */
/* The beginning of a capture: text attributes and the system page. */
#ifndef TRACELOGGER_HEADER_H
#define TRACELOGGER_HEADER_H

#include "tracelogger/options.h"

/* Writes both to the sink. 0 or -1 (reported). */
int header_write(const struct options *options);

#endif

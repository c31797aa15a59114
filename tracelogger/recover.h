/* SPDX-License-Identifier: BSD-2-Clause */
/* Data of an earlier boot in retained memory, for --recover and --discard: docs/guide/flight.md. */
#ifndef TRACELOGGER_RECOVER_H
#define TRACELOGGER_RECOVER_H

#include "tracelogger/options.h"

/* Saves the data as a capture, or discards it; then frees the memory. Having nothing to save is not
 * a failure. Returns the exit status. */
int recover_work(const struct options *options);

#endif

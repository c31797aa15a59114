/* SPDX-License-Identifier: BSD-2-Clause */
/* What an earlier boot left in retained memory (docs/flight.md), for --recover and --discard. */
#ifndef TRACELOGGER_RECOVER_H
#define TRACELOGGER_RECOVER_H

#include "tracelogger/options.h"

/* Saves it as a capture; then, or without, frees the memory. Nothing to save is no failure. The
 * exit status. */
int recover_work(const struct options *options);

#endif

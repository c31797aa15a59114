/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -P and -R: the kernel's buffers in the memory object /ktrace.buffers, so that they and the newest
 * data outlive the logger, and the next logger needs no new memory.
 */
#ifndef TRACELOGGER_KEEP_H
#define TRACELOGGER_KEEP_H

#include <stdint.h>

#include "tracelogger/options.h"

/* Called before the buffers are allocated. With -R sets their number to that of the kept ones.
 * Returns 0 or -1. */
int keep_open(struct options *options);
/* Runs ALLOCBUFFER, with the kept memory or any: results as of TraceEvent(). */
long keep_alloc(unsigned count, uint64_t *paddr);
/* Called after the buffers are freed. */
void keep_close(const struct options *options);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -P and -R: the kernel's buffers in the memory object /ktrace.buffers, so that they survive the
 * logger with the last recorded data, and the next logger need not find memory again.
 */
#ifndef TRACELOGGER_KEEP_H
#define TRACELOGGER_KEEP_H

#include <stdint.h>

#include "tracelogger/options.h"

/* Before the buffers are allocated. With -R sets their number to that kept. Returns 0 or -1. */
int keep_open(struct options *options);
/* ALLOCBUFFER, there or anywhere: results as of TraceEvent(). */
long keep_alloc(unsigned count, uint64_t *paddr);
/* After they are freed. */
void keep_close(const struct options *options);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -P and -R: the kernel's buffers in the memory object /ktrace.buffers, so that they, with what was
 * recorded last, are there when the logger has ended, and the next one need not find memory anew.
 */
#ifndef TRACELOGGER_KEEP_H
#define TRACELOGGER_KEEP_H

#include <stdint.h>

#include "tracelogger/options.h"

/* Before the buffers are allocated. With -R how many there are is what was kept. 0 or -1
 * (reported). */
int keep_open(struct options *options);
/* ALLOCBUFFER, there or anywhere: as TraceEvent(). */
long keep_alloc(unsigned count, uint64_t *paddr);
/* After they are freed. */
void keep_close(const struct options *options);

#endif

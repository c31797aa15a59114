/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring's buffers that gave way to newer ones between two runs (-d1 -r): the capture has a gap in
 * the sequence there, and DROPPED of reason "recycled" behind it says that nothing is lost. The
 * kernel's count (QUERYLOSS) is the evidence: a gap that it does not cover gets no such slot.
 */
#ifndef TRACELOGGER_RECYCLED_H
#define TRACELOGGER_RECYCLED_H

#include <stdint.h>

#include "abi/sys/trace.h"

#define RECYCLED_SLOTS 1 /* that recycled_write() adds for a CPU; more only from 2^32 events on */

/* A ring's buffer was taken, in the order of its CPU's. */
void recycled_note(const struct kymo_trace_buffer *buffer);
/* Writes the slots that are due for these CPUs (1 << cpu), each behind a noted buffer that the sink
 * has: a reader looks for the account behind the gap. 0 or -1. */
int recycled_write(uint64_t stored);

#endif

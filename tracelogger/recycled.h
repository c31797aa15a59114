/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring's buffers that were overwritten between two runs (-d1 -r): the capture has a gap in the
 * sequence there, and DROPPED of reason "recycled" after it shows that nothing is lost. The
 * kernel's count (QUERYLOSS) is the evidence: a gap that it does not cover gets no such slot.
 */
#ifndef TRACELOGGER_RECYCLED_H
#define TRACELOGGER_RECYCLED_H

#include <stdint.h>

#include "abi/sys/trace.h"

#define RECYCLED_SLOTS 1 /* that recycled_write() adds for a CPU; more only from 2^32 events on */

/* Reports a taken buffer of a ring, in the order of its CPU's buffers. */
void recycled_note(const struct kymo_trace_buffer *buffer);
/* Writes the slots that are due for these CPUs (1 << cpu), each after a noted buffer that the sink
 * has: a reader expects the account after the gap. Returns 0 or -1. */
int recycled_write(uint64_t stored);

#endif

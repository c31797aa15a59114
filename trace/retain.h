/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's buffers in retained memory (abi/retain.h): where they and their tables go,
 * and the seals of closed ones. The writer knows nothing of it: it puts slots and moves its cursor
 * as ever, and all that a reader needs after a reset lies in the window because everything does.
 *
 * Contexts: "lock" is the kernel lock, kernel context. docs/flight.md; proof:
 * test/unit/test_retain.c.
 */
#ifndef TRACE_RETAIN_H
#define TRACE_RETAIN_H

#include "trace/consumer.h"

/* A closed buffer is sealed in steps, one every so many slots, so that none takes long; a long
 * event, or many, before the kernel's exit comes make the next one longer. */
#define TRACE_RETAIN_PACE 16   /* slots: marks for which a buffer's writer asks for the exit */
#define TRACE_RETAIN_RATE 32   /* bytes sealed for a slot written: twice what a slot is */
#define TRACE_RETAIN_MOST 2048 /* bytes of one step */

/* Lock: memory for the consumer's buffers and tables: block, tables, paddr. 0, -EBUSY (an earlier
 * boot's recording is there), -ENODEV (no such memory), -ENOMEM. */
int trace_retain_alloc(struct trace_consumer *consumer);
/* Lock: the rings have been made: from now on a reset finds them. */
void trace_retain_begin(struct trace_consumer *consumer);
/* Lock, writers stopped: from now on it finds nothing. */
void trace_retain_end(void);
/* Own CPU, lock: seals a step more, if there is something to seal. */
void trace_retain_exit(struct trace_cpu *cpu);

#endif

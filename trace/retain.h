/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's buffers in retained memory (abi/retain.h): placement of buffers and tables, and
 * the seals of closed buffers. The writer is not involved: it writes slots and moves its cursor as
 * always, and everything that a reader needs after a reset is already in the window.
 *
 * Contexts: "lock" is the kernel lock, kernel context. docs/guide/flight.md; proof:
 * test/trace/retain_test.c, seals_test.c.
 */
#ifndef TRACE_RETAIN_H
#define TRACE_RETAIN_H

#include "trace/consumer.h"

/* A closed buffer is sealed in steps, one after each TRACE_RETAIN_PACE slots, so that no step takes
 * long. After a long event, or many events before the kernel's exit, there are several steps, with
 * preemption points between them: bytes that a more urgent thread prevents from being sealed are
 * owed, and follow at later exits. */
#define TRACE_RETAIN_PACE 16   /* slots after which a writer requests the exit */
#define TRACE_RETAIN_RATE 32   /* bytes sealed per slot written: twice a slot's size */
#define TRACE_RETAIN_MOST 256  /* most bytes of one step */
#define TRACE_RETAIN_OWED 2048 /* most bytes owed */

/* Places the consumer's buffers and tables: sets block, tables, paddr. Returns 0, -EBUSY (holds an
 * earlier boot's recording), -ENODEV (no retained memory) or -ENOMEM. Lock. */
int trace_retain_alloc(struct trace_consumer *consumer);
/* Called when the rings exist: from here on they are found after a reset. Lock. */
void trace_retain_begin(struct trace_consumer *consumer);
/* From here on no ring is found after a reset. Lock, writers stopped. */
void trace_retain_end(void);
/* Seals owed bytes step by step. Called last at the kernel's exit: the lock is not held throughout.
 * Own CPU, lock. */
void trace_retain_exit(struct trace_cpu *cpu);

#endif

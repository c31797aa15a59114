/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A consumer's records in the event log, see log_event.h. Tested by test/d_fire/log_test.c and, on
 * the boards, by test/boot/dlog.py.
 */
#ifndef TRACE_DTRACE_LOG_H
#define TRACE_DTRACE_LOG_H

#include "trace/dtrace/consumer.h"
#include "trace/dtrace/log_event.h"

/* Own CPU, nothing else firing: what the principal buffer holds goes to the log, and it
 * is empty. */
void dtrace_log_records(struct dtrace_consumer *, struct dtrace_consumer_cpu *);
/* A clause of a consumer whose records go to the event log, or into retained memory: as if they did
 * not, then they go there, or get their marks: its own or what it committed of a speculation. */
void dtrace_log_fire(const struct dtrace_ecb *, struct dtrace_consumer_cpu *,
                     const uint64_t args[5]);

/* ---- control context --------------------------------------------------------------- */

/* What a live reader would take now: status, aggregations, where the records of each CPU end.
 * False: some of that found no room; what it was of is in the next pass, but for drops. */
bool dtrace_log_pass(struct dtrace_consumer *, uint32_t pass, uint32_t flags);
/* Keeps the notes. 0, -ENOMEM. */
int dtrace_log_notes_keep(struct dtrace_consumer *, const void *, uint32_t bytes);
/* Logs them from `from` on as far as there is room: where to go on. */
uint32_t dtrace_log_notes(const struct dtrace_consumer *, uint32_t from);

/* The notes of the i-th consumer that has some. False: there are no more. Any kernel context. */
bool dtrace_log_notes_of(unsigned i, uint32_t *id, const void **bytes, uint32_t *n);

/* For a log that begins or ends: the part-th piece of all consumers' notes. False: no more. Any
 * kernel context. */
bool dtrace_log_dump(unsigned part);

/* ---- what the log must know of consumers (consumer.c) ------------------------------ */

extern struct dtrace_consumer *dtrace_consumers; /* [k] the first; see next */

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A consumer's records in the event log, see log_event.h. Tested by
 * test/trace/dtrace/fire/log_test.c and, on the boards, by test/board/dlog.py.
 */
#ifndef TRACE_DTRACE_LOG_H
#define TRACE_DTRACE_LOG_H

#include "trace/dtrace/consumer.h"
#include "trace/dtrace/log_event.h"

/* Moves the records of the principal buffer to the log and empties the buffer. Own CPU, no other
 * probe firing on it. */
void dtrace_log_records(struct dtrace_consumer *, struct dtrace_consumer_cpu *);
/* Fires a clause of a consumer that logs, retains, or may not observe everything: as for any
 * consumer, if it may observe this process; then moves the records, its own and those it committed
 * from a speculation, to the event log, or marks them in retained memory. */
void dtrace_log_fire(const struct dtrace_ecb *, struct dtrace_consumer_cpu *,
                     const uint64_t args[5]);

/* ---- control context --------------------------------------------------------------- */

/* Logs the data that a live reader would take now: status, aggregations, the end of each CPU's
 * records. Returns false if some of it found no room; except for drops, the next pass reports that
 * part. */
bool dtrace_log_pass(struct dtrace_consumer *, uint32_t pass, uint32_t flags);
/* Keeps the notes. Returns 0 or -ENOMEM. */
int dtrace_log_notes_keep(struct dtrace_consumer *, const void *, uint32_t bytes);
/* Logs the notes from offset `from` on, as far as there is room. Returns the offset to continue
 * at. */
uint32_t dtrace_log_notes(const struct dtrace_consumer *, uint32_t from);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data kept together with the buffers of a consumer in retained memory (-x retain), so that
 * after a crash at any instruction a reader of the window (lib/retain/d*.c) knows which records and
 * which entries of aggregations are complete. Layout: abi/retain.h. Other consumers have no extra
 * cost: a retaining consumer's clauses run like those that log (log.h), and its aggregations have
 * kinds of their own.
 *
 * Tested by test/trace/dtrace/fire/retain_test.c and, on the boards, by test/board/dretain.py.
 */
#ifndef TRACE_DTRACE_RETAINED_H
#define TRACE_DTRACE_RETAINED_H

#include "abi/retain.h"
#include "trace/dtrace/consumer.h"

struct dtrace_kept_cpu {
    struct kymo_retain_d_live *live;      /* [c] */
    const uint8_t *entries;               /* [I] both halves */
    uint16_t laps;                        /* [c] of the ring when live->sealed was written */
    uint32_t *record_marks, *entry_marks; /* [c] NULL: no such buffer */
};

struct dtrace_kept {
    struct kymo_retain_d is;   /* [k] copy of the window's entry */
    struct dtrace_block block; /* [I] this struct, and the data kept with the buffers */
    struct dtrace_block notes; /* [k] */
    struct dtrace_kept_cpu cpu[KYMO_RETAIN_CPUS];
};

/* ---- control context --------------------------------------------------------------- */

/* Checks whether the consumer retains, and whether it may now. Returns 0 or a refusal. */
int dtrace_kept_begin(struct dtrace_consumer *, const struct dtrace_image *,
                      struct dtrace_refusal *);
/* Creates and publishes the data kept with the memory of a retaining consumer, which is allocated.
 * Returns 0 or a refusal. */
int dtrace_kept_make(struct dtrace_consumer *, struct dtrace_refusal *);
/* Withdraws an ended consumer from the window; its buffers are freed by the code that allocated
 * them. */
void dtrace_kept_free(struct dtrace_consumer *);
/* Keeps the notes that describe its records, as DTRACE_LOG_NOTES (log_event.h). Returns 0 or
 * -ENOSPC. */
int dtrace_kept_notes(struct dtrace_consumer *, const void *, uint32_t bytes);

/* ---- probe context, own CPU -------------------------------------------------------- */

/* Called after each probe firing: marks the records that it wrote. */
void dtrace_kept_records(struct dtrace_consumer *, struct dtrace_consumer_cpu *);
/* dtrace_kept_update(): aggregate.h. */

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A consumer whose buffers lie in retained memory (-x retain): what is beside them there, so that
 * after a crash at any instruction a reader of the window (lib/retain/d*.c) knows which records and
 * which entries of aggregations are whole. Layout: abi/retain.h. Others pay nothing: its
 * clauses run as those that log (log.h), its aggregations have kinds of their own.
 *
 * Tested by test/d_fire/retain_test.c and, on the boards, by test/boot/dretain.py.
 */
#ifndef TRACE_DTRACE_RETAINED_H
#define TRACE_DTRACE_RETAINED_H

#include "abi/retain.h"
#include "trace/dtrace/consumer.h"

struct dtrace_kept_cpu {
    struct kymo_retain_d_live *live;      /* [c] */
    const uint8_t *entries;               /* [I] both halves */
    uint16_t laps;                        /* [c] of the ring, when live->sealed was written */
    uint32_t *record_marks, *entry_marks; /* [c] NULL: it has no such buffer */
};

struct dtrace_kept {
    struct kymo_retain_d is;   /* [k] as the window has it */
    struct dtrace_block block; /* [I] this, and what it says is beside the buffers */
    struct dtrace_block notes; /* [k] */
    struct dtrace_kept_cpu cpu[KYMO_RETAIN_CPUS];
};

/* ---- control context --------------------------------------------------------------- */

/* Whether it retains, and may now. 0 or a refusal. */
int dtrace_kept_begin(struct dtrace_consumer *, const struct dtrace_image *,
                      struct dtrace_refusal *);
/* If it does, it has its memory now: makes what is beside it, and has it found. 0 or a refusal. */
int dtrace_kept_make(struct dtrace_consumer *, struct dtrace_refusal *);
/* It is over: it is found no more; its buffers are freed by who made them. */
void dtrace_kept_free(struct dtrace_consumer *);
/* What describes its records, as DTRACE_LOG_NOTES (log_event.h). 0, -ENOSPC. */
int dtrace_kept_notes(struct dtrace_consumer *, const void *, uint32_t bytes);

/* ---- of a firing, own CPU ---------------------------------------------------------- */

/* Behind each firing: marks for the records that it has made. */
void dtrace_kept_records(struct dtrace_consumer *, struct dtrace_consumer_cpu *);
/* dtrace_kept_update(): aggregate.h. */

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D in the event log: a consumer made with DTRACE_CREATE_LOG leaves its records there instead of in
 * buffers for the link. The events are of class TRACE_CLASS_D; these are their numbers and words.
 * Bytes follow the words, padded with zeros to whole slots. Written by trace/dtrace/log.c,
 * control_log.c, read by host/dtrace/replay/read.c; docs/guide/d-log.md, "Into a capture". The
 * first word is the consumer's handle.
 */
#ifndef TRACE_DTRACE_LOG_EVENT_H
#define TRACE_DTRACE_LOG_EVENT_H

#include <stdint.h>

#include "abi/static_assert.h"
#include "trace/slot.h"

enum dtrace_log_event {
    /* bytes of all notes, offset of this part; then the notes, whose format is the host's */
    DTRACE_LOG_NOTES = 1,
    /* its number on this CPU, from 0; the record. A missing number is a lost record */
    DTRACE_LOG_RECORD,
    /* pass, records made so far on this CPU, 0; struct dtrace_snap */
    DTRACE_LOG_TAKEN,
    /* pass, CPU, index; an aggregation's entry */
    DTRACE_LOG_ENTRY,
    /* pass, CPU, entries in this snapshot, drops of them low and high */
    DTRACE_LOG_ENTRIES,
    /* pass, flags, CPU of BEGIN | CPU of END << 16; struct dtrace_status */
    DTRACE_LOG_STATUS,
    /* pid, 0; struct kymo_d_process */
    DTRACE_LOG_PROCESS,
};

enum dtrace_log_pass_flags {
    DTRACE_LOG_LAST = 1,        /* the last pass */
    DTRACE_LOG_INTERRUPTED = 2, /* ended by ^C: the consumer prints a newline */
    DTRACE_LOG_PROCESSES = 4,   /* the records hold addresses of processes: log the processes */
    DTRACE_LOG_PASS_FLAGS = 7,
};

enum {
    DTRACE_LOG_WORDS_MAX = 6,
    DTRACE_LOG_NOTES_PART_MOST = 480, /* bytes in one event, whatever a buffer's size */
    /* Bytes in one event of this build. A smaller part fills its slots, so that no padding follows
     * it. */
    DTRACE_LOG_NOTES_PART = TRACE_EVENT_SLOTS_MOST < 62 ? 252 : DTRACE_LOG_NOTES_PART_MOST,
    DTRACE_LOG_NOTES_MAX = 128 * 1024, /* total of one consumer's notes */
};
KYMO_STATIC_ASSERT((12 + DTRACE_LOG_NOTES_PART + 7) / 8 <= TRACE_EVENT_SLOTS_MOST &&
                       (DTRACE_LOG_NOTES_PART == DTRACE_LOG_NOTES_PART_MOST ||
                        (12 + DTRACE_LOG_NOTES_PART) % 8 == 0),
                   "a part of the notes fits a buffer, and readers can tell where it ends");

#endif

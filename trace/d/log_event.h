/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D in the event log: a consumer made with D_CREATE_LOG leaves its records there instead of in
 * buffers for the link. Its events are of class TRACE_CLASS_D; these are their numbers and words;
 * what follows the words are bytes, padded with zeros to whole slots. Written by trace/d/log.c,
 * control_log.c, read by host/dtrace/replay.c; docs/d.md, "Into a capture". The first word is the
 * consumer's handle.
 */
#ifndef TRACE_D_LOG_EVENT_H
#define TRACE_D_LOG_EVENT_H

#include <stdint.h>

enum d_log_event {
    /* bytes of all notes, where these begin; the notes, which are the host's own affair */
    D_LOG_NOTES = 1,
    /* its number on this CPU, from 0; the record. A number that is missing is a record lost */
    D_LOG_RECORD,
    /* pass, records made so far on this CPU, 0; struct d_snap */
    D_LOG_TAKEN,
    /* pass, CPU, index; an aggregation's entry */
    D_LOG_ENTRY,
    /* pass, CPU, entries in this snapshot, drops of them low and high */
    D_LOG_ENTRIES,
    /* pass, flags, CPU of BEGIN | CPU of END << 16; struct d_status */
    D_LOG_STATUS,
    /* pid, 0; struct kymo_d_process */
    D_LOG_PROCESS,
};

enum d_log_pass_flags {
    D_LOG_LAST = 1,        /* nothing comes after this pass */
    D_LOG_INTERRUPTED = 2, /* ^C ended it: the consumer prints a newline */
    D_LOG_PROCESSES = 4,   /* the records hold addresses of processes: say which there are */
    D_LOG_PASS_FLAGS = 7,
};

enum {
    D_LOG_WORDS_MAX = 6,
    D_LOG_NOTES_PART = 480,       /* bytes of notes in one event */
    D_LOG_NOTES_MAX = 128 * 1024, /* of all, of one consumer */
};

#endif

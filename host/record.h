/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The record of an event: the names of its class and of itself, and its arguments as fields. `kymo
 * print --json` and --csv show records, the library (host/kev/) gives them; the lines of `kymo
 * print` use the parts. Proof: test/host/print/selections.py, test/host/kev/check.
 */
#ifndef HOST_RECORD_H
#define HOST_RECORD_H

#include "host/reader/kev.h"
#include "trace/slot.h"

enum record_args {
    RECORD_FIELDS, /* fields */
    RECORD_WORDS,  /* d0, d1 ...: without a description */
    RECORD_TEXT,   /* a user event that is a text: `text_len` */
};

struct record {
    const char *class; /* THREAD, KER_CALL, COMM ...: as --class and --event take it */
    const char *event; /* THRUNNING, MSG_SENDV ...; NULL: unknown */
    unsigned number;   /* of the event in its class, or of the kernel call */
    enum record_args args;
    unsigned nfields;
    struct kev_field fields[KEV_ARGS_MAX];
    size_t text_len;
};

/* Fills in all of it. record_name() fills in `class`, `event` and `number`, record_arguments() the
 * rest, for callers that may not need both. */
void record_fill(struct record *record, const struct kev *kev, const struct kev_event *event);
void record_name(struct record *record, const struct kev *kev, const struct kev_event *event);
void record_arguments(struct record *record, const struct kev *kev, const struct kev_event *event);

/* ---- parts ------------------------------------------------------------------------- */

/* Why a DROPPED slot says that events were lost; NULL for an unknown reason. */
const char *record_drop_reason(uint32_t reason);
/* Returns true for an event whose number is a thread's state, or THCREATE and THDESTROY. */
static inline bool record_is_thread(const struct kev_event *event)
{
    return event->class == TRACE_CLASS_PR_TH && (event->number & ~TRACE_EVENT_64) < 64;
}
/* Decodes the fields of an event that is not a call: at most KEV_ARGS_MAX. Returns how many. */
unsigned record_fields(const struct kev_event *event, const struct kev_desc *desc,
                       struct kev_field *fields);
/* Returns true, and its length, for a user event that is a text beyond doubt. */
bool record_user_text(const struct kev_event *event, size_t *len);
/* Returns true if an event of class INT has all the fields that its line needs. */
bool record_int_is_whole(const struct kev_event *event, unsigned nfields);

#endif

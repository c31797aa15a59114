/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events for programs: --json and --csv. Both have the same columns (docs/man/kymo-print.1 and
 * docs/lines.md name them): those of a record. Tested by test/host/selections.py and
 * test/host/check.
 */
#ifndef HOST_PRINT_RECORD_H
#define HOST_PRINT_RECORD_H

#include "host/print/line.h"

enum record_args {
    RECORD_FIELDS, /* fields */
    RECORD_WORDS,  /* d0, d1 ...: without a description */
    RECORD_TEXT,   /* a user event that is a text: `text_len` */
};

struct record {
    const char *class;            /* THREAD, KER_CALL, COMM ...: as --class and --event take it */
    const char *event;            /* THRUNNING, MSG_SENDV ...; NULL: unknown */
    unsigned number;              /* of the event in its class, or of the kernel call */
    int64_t ns;                   /* since the capture's start */
    const char *process, *thread; /* of the owner; NULL: unknown */
    enum record_args args;
    unsigned nfields;
    struct kev_field fields[KEV_ARGS_MAX];
    size_t text_len;
};

/* style: owner, owners and first. */
void record_fill(struct record *record, const struct kev *kev, const struct kev_event *event,
                 const struct line_style *style);
/* json.c. Prints one object, on a line. */
void json_event(struct out *out, const struct kev *kev, const struct kev_event *event,
                const struct line_style *style);
/* csv.c. Prints the line of names; an event's line. Lines end with CR LF (RFC 4180). */
void csv_header(struct out *out);
void csv_event(struct out *out, const struct kev *kev, const struct kev_event *event,
               const struct line_style *style);

#endif

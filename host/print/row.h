/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events for programs: --json and --csv. Both have the same columns (docs/man/kymo-print.1 and
 * docs/reference/lines.md name them): those of a row. Tested by test/host/print/selections.py and
 * test/host/check.
 */
#ifndef HOST_PRINT_ROW_H
#define HOST_PRINT_ROW_H

#include "host/print/line.h"
#include "host/record.h"

struct row {
    struct record record;
    int64_t ns;                   /* since the capture's start */
    const char *process, *thread; /* of the owner; NULL: unknown */
};

/* style: owner, owners and first. */
void row_fill(struct row *row, const struct kev *kev, const struct kev_event *event,
              const struct line_style *style);
/* json.c. Prints one object, on a line. */
void json_event(struct out *out, const struct kev *kev, const struct kev_event *event,
                const struct line_style *style);
/* csv.c. Prints the line of names; an event's line. Lines end with CR LF (RFC 4180). */
void csv_header(struct out *out);
void csv_event(struct out *out, const struct kev *kev, const struct kev_event *event,
               const struct line_style *style);

#endif

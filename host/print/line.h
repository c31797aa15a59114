/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as lines of text, in traceprinter's shapes (docs/format.md names the differences).
 */
#ifndef HOST_PRINT_LINE_H
#define HOST_PRINT_LINE_H

#include "host/print/out.h"
#include "host/reader/kev.h"

struct line_style {
    bool one_line; /* -n: all arguments on the event's line */
};

/* The whole event, its newline included. */
void line_event(struct out *out, const struct kev *kev, const struct kev_event *event,
                const struct line_style *style);
/* line_args.c: fields behind a name padded to 13, or one per line if there are more than two. */
void line_fields(struct out *out, const struct kev_field *fields, unsigned n,
                 const struct line_style *style);
void line_named(struct out *out, const char *name, const struct kev_field *fields, unsigned n,
                const struct line_style *style);
void line_value(struct out *out, const struct kev_field *field);
/* line_int.c: false if the event has too few words. */
bool line_int(struct out *out, const struct kev_event *event, const struct kev_desc *desc);
/* line_user.c */
void line_user(struct out *out, const struct kev_event *event, const struct line_style *style);
void line_words(struct out *out, const struct kev_event *event, const struct line_style *style);
/* header.c: the block before the events. */
void line_header(struct out *out, const struct kev *kev, bool verbose);

#endif

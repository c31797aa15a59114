/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as lines of text, in traceprinter's shapes (docs/reference/lines.md names the
 * differences).
 */
#ifndef HOST_PRINT_LINE_H
#define HOST_PRINT_LINE_H

#include "host/owner.h"
#include "host/print/format.h"
#include "host/print/symbols.h"
#include "host/reader/kev.h"
#include "trace/slot.h"

enum line_time { LINE_CYCLES, LINE_SECONDS, LINE_NS };
/* The program whose text it is (docs/reference/lines.md): Kymo, or traceprinter 6.x, 7.x or 8.0. */
enum line_dialect { LINE_KYMO, LINE_QNX6, LINE_QNX7, LINE_QNX8 };

struct line_style {
    bool one_line;                       /* -n: all arguments on the event's line */
    enum line_time time;                 /* --time */
    enum line_dialect dialect;           /* --style */
    const struct owners *owners;         /* --names: names after ids, and the owner; NULL: none */
    struct owner owner;                  /* the event's owner */
    const struct print_symbols *symbols; /* --symbols: names for addresses; NULL: none */
    const struct format *format;         /* -p: the head of a line; NULL: the usual one */
    uint64_t index;                      /* for -p: of the event, among those read */
    uint64_t first;                      /* what relative times count from: the capture's start */
};

/* Prints the whole event, its newline included. */
void line_event(struct out *out, const struct kev *kev, const struct kev_event *event,
                const struct line_style *style);
/* header.c. Prints the block before the events. */
void line_header(struct out *out, const struct kev *kev, bool verbose);

/* ---- for the lines and for the rows of --json and --csv ------------------------------- */

/* line_args.c. Prints a field's value; line_signed() only one of type D or E. */
void line_value(struct out *out, const struct kev_field *field);
void line_signed(struct out *out, const struct kev_field *field);

/* ---- parts of line_event() ---------------------------------------------------------- */

/* line_args.c. Prints fields after a name, or one a line if there are more than two, and the
 * newline. */
void line_fields(struct out *out, const struct kev_field *fields, unsigned n,
                 const struct line_style *style);
/* The type of a word of a message that is also printed as characters: no capture has it. */
#define LINE_TYPE_MESSAGE 'M'
/* Prints "(name)" after field i if it is a pid or tid that has a name. */
void line_id_name(struct out *out, const struct kev_field *fields, unsigned n, unsigned i,
                  const struct owners *owners);
/* line_int.c, for events that are whole: which interrupt; the name with it; the body. */
uint32_t line_int_number(const struct kev_event *event, const struct kev_field *fields);
void line_int_name(struct out *out, const struct kev_event *event, const struct kev_desc *desc,
                   const struct kev_field *fields);
void line_int_body(struct out *out, const struct kev_event *event, const struct kev_field *fields,
                   unsigned n, const struct line_style *style);
/* line_user.c. Prints a text of this length, or the words; of any event its words. */
void line_user_body(struct out *out, const struct kev_event *event, bool is_text, size_t len,
                    const struct line_style *style);
void line_words(struct out *out, const struct kev_event *event, const struct line_style *style);

#endif

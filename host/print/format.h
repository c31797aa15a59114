/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo print -p FORMAT: the head of a line, before an event's arguments, as in traceprinter 7.0 and
 * later. Tested by test/host/print/format_test.c; the default format against golden lines in
 * test/host/check.
 */
#ifndef HOST_PRINT_FORMAT_H
#define HOST_PRINT_FORMAT_H

#include "host/print/out.h"

#define FORMAT_PIECES 64
#define FORMAT_WIDTH_MAX 4096
#define FORMAT_NAME_MAX 64
#define FORMAT_DEFAULT "t:0x%08c CPU:%02C %-16Z:%-18z"

/* Text of the format string, or a conversion. */
struct format_piece {
    char what; /* one of cCetZz; 0: text */
    bool left, zero, alternate;
    bool precise; /* has a precision */
    bool front;   /* a negative precision: cuts at the front */
    unsigned width, precision;
    const char *text;
    size_t len;
};

struct format {
    unsigned n;
    struct format_piece pieces[FORMAT_PIECES];
};

/* Values of the conversions. */
struct format_event {
    uint64_t cycles;
    uint64_t index; /* of the event among those read, from 0 */
    unsigned cpu;
    int64_t ns;                   /* since the first event */
    char class[FORMAT_NAME_MAX];  /* THREAD */
    char number[FORMAT_NAME_MAX]; /* THRUNNING */
};

/* Returns 0, or -1 with *bad at the invalid conversion; *bad NULL: there are too many. `text` must
 * outlive the format. */
int format_parse(struct format *format, const char *text, const char **bad);
void format_print(struct out *out, const struct format *format, const struct format_event *event);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as lines of text, in traceprinter's shapes (docs/format.md names the differences).
 */
#ifndef HOST_PRINT_LINE_H
#define HOST_PRINT_LINE_H

#include "host/owner.h"
#include "host/print/format.h"
#include "host/print/symbols.h"
#include "host/reader/kev.h"
#include "trace/slot.h"

enum line_time { LINE_CYCLES, LINE_SECONDS, LINE_NS };
/* Whose text it is (docs/lines.md): Kymo's, or that of traceprinter 6.x, 7.x or 8.0. */
enum line_dialect { LINE_KYMO, LINE_QNX6, LINE_QNX7, LINE_QNX8 };

struct line_style {
    bool one_line;                 /* -n: all arguments on the event's line */
    enum line_time time;           /* --time */
    enum line_dialect dialect;     /* --style */
    const struct owners *owners;   /* --names: names behind ids, and whose it is; NULL: none */
    struct owner owner;            /* whose the event is */
    const struct symbols *symbols; /* --symbols: names for addresses; NULL: none */
    const struct format *format;   /* -p: what stands before them; NULL: the usual */
    uint64_t index;                /* for -p: of the event, among those read */
    uint64_t first;                /* what relative times count from: the capture's start */
};

/* The whole event, its newline included. */
void line_event(struct out *out, const struct kev *kev, const struct kev_event *event,
                const struct line_style *style);
/* Nanoseconds as decimal seconds. */
void line_seconds(struct out *out, int64_t ns);
/* "THREAD  :" and the like; NULL: the class's name serves. */
const char *line_group_name(const struct kev_event *event);
/* The name of its class where nothing else is known of an event. Kymo's own kernel calls print like
 * the other ones. */
const char *line_class_name(const struct kev_event *event);
/* line_body.c: all that follows an event's name, newline included. desc may be NULL. */
void line_body(struct out *out, const struct kev *kev, const struct kev_event *event,
               const struct kev_desc *desc, const struct line_style *style);
void line_control_body(struct out *out, const struct kev_event *event,
                       const struct line_style *style);
/* A kernel call's name and number, "MSG_SENDV/11": at most FORMAT_NAME_MAX characters.
 * Its length. */
size_t line_call_text(char *to, size_t room, const struct kev_desc *desc,
                      const struct line_style *style);
void line_call_body(struct out *out, const struct kev *kev, const struct kev_event *event,
                    const struct kev_desc *desc, const struct line_style *style);
/* Events that are neither calls nor interrupts: at most KEV_ARGS_MAX fields; how they are shown. */
unsigned line_group_fields(const struct kev_event *event, const struct kev_desc *desc,
                           struct kev_field *fields);
struct line_style line_group_style(const struct kev_event *event, const struct line_style *style);
/* line_format.c: a line whose head is style->format's. */
void line_formatted(struct out *out, const struct kev *kev, const struct kev_event *event,
                    const struct line_style *style);
/* line_args.c: fields behind a name padded to 13, or one per line if there are more than two. */
void line_fields(struct out *out, const struct kev_field *fields, unsigned n,
                 const struct line_style *style);
void line_named(struct out *out, const char *name, const struct kev_field *fields, unsigned n,
                const struct line_style *style);
/* The type of a word of a message where it is printed as characters, too: no capture has it. */
#define LINE_TYPE_MESSAGE 'M'
/* A field's value; line_signed(): of type D or E only. */
void line_signed(struct out *out, const struct kev_field *field);
void line_value(struct out *out, const struct kev_field *field);
/* "(name)" behind field i if it is a pid or tid that has a name. */
void line_id_name(struct out *out, const struct kev_field *fields, unsigned n, unsigned i,
                  const struct owners *owners);
/* line_int.c: false if the event has too few words. */
bool line_int(struct out *out, const struct kev_event *event, const struct kev_desc *desc,
              const struct line_style *style);
bool line_int_known(const struct kev_event *event, const struct kev_desc *desc);
/* Which interrupt, of an event that line_int_known(). */
uint32_t line_int_number(const struct kev_event *event, const struct kev_desc *desc);
void line_int_body(struct out *out, const struct kev_event *event, const struct kev_desc *desc,
                   const struct line_style *style);
/* line_user.c. A user event that is a text beyond doubt: its length. */
bool line_user_text(const struct kev_event *event, size_t *len);
void line_user_body(struct out *out, const struct kev_event *event, const struct line_style *style);
void line_user(struct out *out, const struct kev_event *event, const struct line_style *style);
void line_words(struct out *out, const struct kev_event *event, const struct line_style *style);
/* Control events that have shapes of their own. */
static inline bool line_is_control(const struct kev_event *event)
{
    return event->class == TRACE_CLASS_CONTROL &&
           (event->number == TRACE_CONTROL_TIME || event->number == TRACE_CONTROL_BUFFER ||
            event->number == TRACE_CONTROL_DROPPED);
}
/* header.c: the block before the events. */
void line_header(struct out *out, const struct kev *kev, bool verbose);

#endif

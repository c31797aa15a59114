/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of a line behind an event's name, for every class: after the usual head of a line and
 * after the one that -p makes. Proof: test/host/test_line.c, test_format.c.
 */
#include <stdio.h>

#include "host/print/line.h"
#include "abi/sys/trace.h"
#include "trace/slot.h"

enum {
#define KERCALL(number, NAME, ...) CALL_##NAME = (number),
#include "abi/kercalls.def"
#undef KERCALL
};

/* reason << 8 | class, as text. */
static void control_dropped(struct out *out, const struct kev_event *event)
{
    static const char *const reasons[KYMO_DROP_REASONS] = {
#define R(number, name, text, doc) [number] = text,
        KYMO_DROP_REASON_LIST(R)
#undef R
    };
    uint32_t reason = kev_word(event, 0) >> 8;

    out_str(out, " class = ");
    out_str(out, kev_class_name(kev_word(event, 0) & 0xff));
    out_str(out, ", num_events = ");
    out_u64(out, kev_word(event, 1));
    out_str(out, ", reason = ");
    if (reason < KYMO_DROP_REASONS && reasons[reason] != NULL) {
        out_str(out, reasons[reason]);
    } else {
        out_u64(out, reason);
    }
}

void line_control_body(struct out *out, const struct kev_event *event,
                       const struct line_style *style)
{
    switch (event->number) {
    case TRACE_CONTROL_TIME:
        out_str(out, " msb:");
        out_hex32(out, kev_word(event, 0));
        out_str(out, " lsb(offset):");
        out_hex32(out, kev_word(event, 1));
        break;
    case TRACE_CONTROL_BUFFER:
        out_str(out, " sequence = ");
        out_u64(out, kev_word(event, 0) & (style->dialect == LINE_QNX6 ? 0x7ff : UINT32_MAX));
        out_str(out, ", num_events = ");
        out_u64(out, kev_word(event, 1));
        break;
    default:
        control_dropped(out, event);
        break;
    }
    out_char(out, '\n');
}

static bool field_is_minus_one(const struct kev_field *field)
{
    return field->value == (field->wide ? UINT64_MAX : UINT32_MAX);
}

size_t line_call_text(char *to, size_t room, const struct kev_desc *desc,
                      const struct line_style *style)
{
    bool qnx = style->dialect != LINE_KYMO, cut = desc->kind == KEV_CALL_INT;
    int len = snprintf(to, room, "%s%s/%0*u", qnx && cut ? "KER_" : "", desc->name,
                       qnx && !cut ? 2 : 1, desc->number);

    return (size_t)len < room ? (size_t)len : room - 1;
}

/* -1 is followed by the error's number, whatever the form, and its name if the capture has it. */
static void call_error(struct out *out, const struct kev *kev, const struct kev_event *event,
                       const struct line_style *style)
{
    uint32_t error = kev_word(event, (event->number & TRACE_EVENT_64) != 0 ? 2 : 1);
    const char *name = style->dialect == LINE_KYMO ? kev_error_name(kev, error) : NULL;

    out_str(out, " ret_val:-1, errno:");
    out_i64(out, (int32_t)error);
    if (name != NULL) {
        out_str(out, " (");
        out_str(out, name);
        out_char(out, ')');
    }
    out_char(out, '\n');
}

/* The words of messages as traceprinter has them: msg:"abcd" (0x64636261); before 8.0 the first one
 * has no [0] in the fast form. args: for the fields' names. */
static void message_fields(struct kev_field *fields, unsigned n, const struct kev_desc *desc,
                           const struct line_style *style, struct kev_arg *args)
{
    struct kev_arg *last = NULL;
    unsigned words = 0;

    for (unsigned i = 0; i < n; i++) {
        const char *name = fields[i].arg->name;
        bool sent = strncmp(name, "msg", 3) == 0, received = strncmp(name, "rmsg", 4) == 0;
        size_t digit = sent ? 3 : 4;

        if ((!sent && !received) || name[digit] < '0' || name[digit] > '2' ||
            name[digit + 1] != '\0') {
            continue;
        }
        args[i].type = LINE_TYPE_MESSAGE;
        snprintf(args[i].name, sizeof(args[i].name), "%s%.*s[%c]",
                 sent && desc->number == CALL_MSG_REPLYV ? "s" : "", (int)digit, name, name[digit]);
        fields[i].arg = last = &args[i];
        words++;
    }
    if (words == 1 && style->dialect != LINE_QNX8) {
        last->name[strcspn(last->name, "[")] = '\0';
    }
}

void line_call_body(struct out *out, const struct kev *kev, const struct kev_event *event,
                    const struct kev_desc *desc, const struct line_style *style)
{
    struct kev_field fields[KEV_ARGS_MAX];
    struct kev_arg args[KEV_ARGS_MAX] = {0};
    unsigned n;

    if (desc->kind == KEV_CALL_INT) {
        out_char(out, '\n');
        return;
    }
    n = kev_decode(event, desc, fields);
    if (desc->kind == KEV_CALL_EXIT && n > 0 && field_is_minus_one(&fields[0])) {
        call_error(out, kev, event, style);
    } else {
        if (style->dialect != LINE_KYMO) {
            message_fields(fields, n, desc, style, args);
        }
        line_fields(out, fields, n, style);
    }
}

static bool is_thread_state(const struct kev_event *event)
{
    return event->class == TRACE_CLASS_PR_TH && (event->number & ~TRACE_EVENT_64) < 64;
}

unsigned line_group_fields(const struct kev_event *event, const struct kev_desc *desc,
                           struct kev_field *fields)
{
    static const struct kev_arg scheduler[] = {{.type = 'D', .name = "partition"},
                                               {.type = 'H', .name = "sched_flags"}};
    unsigned n = kev_decode(event, desc, fields);

    /* Other kernels' wide thread events, where a scheduler of partitions is loaded. */
    if (is_thread_state(event) && n == 4 && event->nwords >= 6) {
        for (; n < 6; n++) {
            fields[n] = (struct kev_field){.arg = &scheduler[n - 4], .value = kev_word(event, n)};
        }
    }
    return n;
}

/* THREAD events keep priority and policy on their line; places in programs have names. */
struct line_style line_group_style(const struct kev_event *event, const struct line_style *style)
{
    struct line_style own = *style;

    own.one_line |= is_thread_state(event);
    own.symbols = symbols_apply(event) ? own.symbols : NULL;
    return own;
}

void line_body(struct out *out, const struct kev *kev, const struct kev_event *event,
               const struct kev_desc *desc, const struct line_style *style)
{
    struct kev_field fields[KEV_ARGS_MAX];
    struct line_style own = line_group_style(event, style);

    if (event->class == TRACE_CLASS_USER) {
        line_user_body(out, event, style);
    } else if (line_is_control(event)) {
        line_control_body(out, event, style);
    } else if (desc == NULL || (event->class == TRACE_CLASS_INT && !line_int_known(event, desc))) {
        line_words(out, event, style);
    } else if (desc->kind != KEV_PLAIN) {
        line_call_body(out, kev, event, desc, style);
    } else if (event->class == TRACE_CLASS_INT) {
        line_int_body(out, event, desc, style);
    } else {
        line_fields(out, fields, line_group_fields(event, desc, fields), &own);
    }
}

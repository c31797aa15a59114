/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One event, one line (or one and its arguments): the shapes of every class. Proof: test/host and
 * the golden captures.
 */
#include "host/print/line.h"
#include "kernel/abi/sys/trace.h"
#include "trace/slot.h"

static void line_start(struct out *out, const struct kev_event *event)
{
    out_str(out, "t:");
    out_hex(out, event->time, 16);
    out_str(out, " CPU:");
    out_char(out, (char)('0' + event->cpu / 10));
    out_char(out, (char)('0' + event->cpu % 10));
    out_char(out, ' ');
}

/* reason << 8 | class, as text. */
static void control_dropped(struct out *out, const struct kev_event *event)
{
    static const char *const reasons[KYMO_TRACE_REASONS] = {
#define R(number, name, text, doc) [number] = text,
        KYMO_DROP_REASON_LIST(R)
#undef R
    };
    uint32_t reason = kev_word(event, 0) >> 8;

    out_str(out, "CONTROL: DROPPED class = ");
    out_str(out, kev_class_name(kev_word(event, 0) & 0xff));
    out_str(out, ", num_events = ");
    out_u64(out, kev_word(event, 1));
    out_str(out, ", reason = ");
    if (reason < KYMO_TRACE_REASONS && reasons[reason] != NULL) {
        out_str(out, reasons[reason]);
    } else {
        out_u64(out, reason);
    }
    out_char(out, '\n');
}

static bool line_control(struct out *out, const struct kev_event *event)
{
    switch (event->number) {
    case TRACE_CONTROL_TIME:
        out_str(out, "CONTROL :TIME msb:");
        out_hex32(out, kev_word(event, 0));
        out_str(out, " lsb(offset):");
        out_hex32(out, kev_word(event, 1));
        out_char(out, '\n');
        return true;
    case TRACE_CONTROL_BUFFER:
        out_str(out, "CONTROL: BUFFER sequence = ");
        out_u64(out, kev_word(event, 0));
        out_str(out, ", num_events = ");
        out_u64(out, kev_word(event, 1));
        out_char(out, '\n');
        return true;
    case TRACE_CONTROL_DROPPED:
        control_dropped(out, event);
        return true;
    default:
        return false;
    }
}

static void call_name(struct out *out, const char *prefix, const struct kev_desc *desc)
{
    out_str(out, prefix);
    out_str(out, desc->name);
    out_char(out, '/');
    out_u64(out, desc->number);
}

static bool field_is_minus_one(const struct kev_field *field)
{
    return field->value == (field->wide ? UINT64_MAX : UINT32_MAX);
}

/* -1 is followed by the error's number, whatever the form. */
static void call_error(struct out *out, const struct kev_event *event, const struct kev_field *ret)
{
    out_str(out, " ret_val:-1, errno:");
    out_i64(out, (int32_t)kev_word(event, ret->wide ? 2 : 1));
    out_char(out, '\n');
}

static void line_call(struct out *out, const struct kev_event *event, const struct kev_desc *desc,
                      const struct line_style *style)
{
    struct kev_field fields[KEV_ARGS_MAX];
    unsigned n;

    if (desc->kind == KEV_CALL_INT) {
        call_name(out, "INT_CALL:", desc);
        out_char(out, '\n');
        return;
    }
    n = kev_decode(event, desc, fields);
    if (desc->kind == KEV_CALL_ENTER) {
        call_name(out, "KER_CALL:", desc);
    } else {
        call_name(out, "KER_EXIT:", desc);
        if (n > 0 && field_is_minus_one(&fields[0])) {
            call_error(out, event, &fields[0]);
            return;
        }
    }
    line_fields(out, fields, n, style);
}

static const char *group_of(const struct kev_event *event)
{
    switch (event->class) {
    case TRACE_CLASS_PR_TH:
        if ((event->number & ~TRACE_EVENT_64) >= 64) {
            return "PROCESS :";
        }
        return (event->number & ~TRACE_EVENT_64) >= 26 ? "VTHREAD :" : "THREAD  :";
    case TRACE_CLASS_SYSTEM:
        return "SYSTEM  :";
    case TRACE_CLASS_COMM:
        return "COMM    :";
    case TRACE_CLASS_CONTROL:
        return "CONTROL :";
    default:
        return NULL;
    }
}

/* THREAD events keep priority and policy on their line. */
static void line_group(struct out *out, const struct kev_event *event, const struct kev_desc *desc,
                       const struct line_style *style)
{
    struct kev_field fields[KEV_ARGS_MAX];
    struct line_style own = *style;
    const char *group = group_of(event);

    if (group != NULL) {
        out_str(out, group);
    } else {
        out_str(out, kev_class_name(event->class));
        out_char(out, ':');
    }
    if (event->class == TRACE_CLASS_PR_TH && (event->number & ~TRACE_EVENT_64) < 64) {
        own.one_line = true;
    }
    line_named(out, desc->name, fields, kev_decode(event, desc, fields), &own);
}

static void line_unknown(struct out *out, const struct kev_event *event,
                         const struct line_style *style)
{
    out_str(out, kev_class_name(event->class));
    out_str(out, ":EVENT:");
    out_u64(out, event->number);
    line_words(out, event, style);
}

void line_event(struct out *out, const struct kev *kev, const struct kev_event *event,
                const struct line_style *style)
{
    const struct kev_desc *desc;

    line_start(out, event);
    if (event->class == TRACE_CLASS_USER) {
        line_user(out, event, style);
        return;
    }
    if (event->class == TRACE_CLASS_CONTROL && line_control(out, event)) {
        return;
    }
    desc = kev_describe(kev, event->class, event->number);
    if (desc == NULL) {
        line_unknown(out, event, style);
    } else if (desc->kind != KEV_PLAIN) {
        line_call(out, event, desc, style);
    } else if (event->class != TRACE_CLASS_INT) {
        line_group(out, event, desc, style);
    } else if (!line_int(out, event, desc)) {
        line_unknown(out, event, style);
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stands behind an event's name, for every class: after the usual head of a line and after the
 * one that -p makes. Proof: test/host/test_line.c, test_format.c.
 */
#include "host/print/line.h"
#include "kernel/abi/sys/trace.h"
#include "trace/slot.h"

/* reason << 8 | class, as text. */
static void control_dropped(struct out *out, const struct kev_event *event)
{
    static const char *const reasons[KYMO_TRACE_REASONS] = {
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
    if (reason < KYMO_TRACE_REASONS && reasons[reason] != NULL) {
        out_str(out, reasons[reason]);
    } else {
        out_u64(out, reason);
    }
}

void line_control_body(struct out *out, const struct kev_event *event)
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
        out_u64(out, kev_word(event, 0));
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

/* -1 is followed by the error's number, whatever the form. */
static void call_error(struct out *out, const struct kev_event *event, const struct kev_field *ret)
{
    out_str(out, " ret_val:-1, errno:");
    out_i64(out, (int32_t)kev_word(event, ret->wide ? 2 : 1));
    out_char(out, '\n');
}

void line_call_body(struct out *out, const struct kev_event *event, const struct kev_desc *desc,
                    const struct line_style *style)
{
    struct kev_field fields[KEV_ARGS_MAX];
    unsigned n;

    if (desc->kind == KEV_CALL_INT) {
        out_char(out, '\n');
        return;
    }
    n = kev_decode(event, desc, fields);
    if (desc->kind == KEV_CALL_EXIT && n > 0 && field_is_minus_one(&fields[0])) {
        call_error(out, event, &fields[0]);
    } else {
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

void line_body(struct out *out, const struct kev_event *event, const struct kev_desc *desc,
               const struct line_style *style)
{
    struct kev_field fields[KEV_ARGS_MAX];
    struct line_style own = line_group_style(event, style);

    if (event->class == TRACE_CLASS_USER) {
        line_user_body(out, event, style);
    } else if (line_is_control(event)) {
        line_control_body(out, event);
    } else if (desc == NULL || (event->class == TRACE_CLASS_INT && !line_int_known(event, desc))) {
        line_words(out, event, style);
    } else if (desc->kind != KEV_PLAIN) {
        line_call_body(out, event, desc, style);
    } else if (event->class == TRACE_CLASS_INT) {
        line_int_body(out, event, desc, style);
    } else {
        line_fields(out, fields, line_group_fields(event, desc, fields), &own);
    }
}

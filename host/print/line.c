/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints an event as one line (or one and its arguments): the shapes of every class. Proof:
 * test/host and the golden captures.
 */
#include "host/print/line.h"
#include "host/when.h"
#include "trace/slot.h"

/* traceprinter 6.x has the low word only. */
static void line_start_low(struct out *out, const struct kev_event *event)
{
    char head[] = "t:0x01234567 CPU:00 ";

    out_hex_digits(head + 4, (uint32_t)event->time);
    head[17] = (char)('0' + event->cpu / 10);
    head[18] = (char)('0' + event->cpu % 10);
    out_bytes(out, head, sizeof(head) - 1);
}

static void line_start_cycles(struct out *out, const struct kev_event *event)
{
    char head[] = "t:0x0123456789abcdef CPU:00 ";

    out_hex_digits(head + 4, (uint32_t)(event->time >> 32));
    out_hex_digits(head + 12, (uint32_t)event->time);
    head[25] = (char)('0' + event->cpu / 10);
    head[26] = (char)('0' + event->cpu % 10);
    out_bytes(out, head, sizeof(head) - 1);
}

void line_seconds(struct out *out, int64_t ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    char fraction[10];

    if (ns < 0) {
        out_char(out, '-');
    }
    out_u64(out, size / 1000000000u);
    size = size % 1000000000u + 1000000000u; /* nine digits behind a one */
    for (unsigned i = 10; i > 0; i--, size /= 10) {
        fraction[i - 1] = (char)('0' + size % 10);
    }
    fraction[0] = '.';
    out_bytes(out, fraction, sizeof(fraction));
}

static void line_owner(struct out *out, const struct line_style *style)
{
    const struct owner *owner = &style->owner;
    const char *process = owner->known ? owners_process(style->owners, owner->pid) : NULL;
    const char *thread = owner->known ? owners_thread(style->owners, owner->pid, owner->tid) : NULL;

    if (!owner->known) {
        out_str(out, "? ");
        return;
    }
    out_i64(out, owner->pid);
    out_char(out, '.');
    out_i64(out, owner->tid);
    if (process != NULL || thread != NULL) {
        out_char(out, '(');
        out_text(out, process == NULL ? "?" : process, process == NULL ? 1 : strlen(process));
        if (thread != NULL) {
            out_char(out, '/');
            out_text(out, thread, strlen(thread));
        }
        out_char(out, ')');
    }
    out_char(out, ' ');
}

static void line_start(struct out *out, const struct kev *kev, const struct kev_event *event,
                       const struct line_style *style)
{
    int64_t ns;

    if (style->dialect == LINE_QNX6) {
        line_start_low(out, event);
    } else if (style->time == LINE_CYCLES) {
        line_start_cycles(out, event);
    } else {
        ns = kymo_when_ns(event->time, style->first, kev_info(kev)->cycles_per_sec);
        out_str(out, "t:");
        if (style->time == LINE_NS) {
            out_i64(out, ns);
        } else {
            line_seconds(out, ns);
        }
        out_str(out, " CPU:");
        out_char(out, (char)('0' + event->cpu / 10));
        out_char(out, (char)('0' + event->cpu % 10));
        out_char(out, ' ');
    }
    if (style->owners != NULL) {
        line_owner(out, style);
    }
}

static bool line_control(struct out *out, const struct kev_event *event,
                         const struct line_style *style)
{
    if (!line_is_control(event)) {
        return false;
    }
    out_str(out, event->number == TRACE_CONTROL_TIME     ? "CONTROL :TIME"
                 : event->number == TRACE_CONTROL_BUFFER ? "CONTROL: BUFFER"
                                                         : "CONTROL: DROPPED");
    line_control_body(out, event, style);
    return true;
}

const char *line_class_name(const struct kev_event *event)
{
    return kev_class_name(trace_class_is_call(event->class) ? TRACE_CLASS_KER_CALL : event->class);
}

static void line_call(struct out *out, const struct kev *kev, const struct kev_event *event,
                      const struct kev_desc *desc, const struct line_style *style)
{
    out_str(out, desc->kind == KEV_CALL_ENTER  ? "KER_CALL:"
                 : desc->kind == KEV_CALL_EXIT ? "KER_EXIT:"
                                               : "INT_CALL:");
    if (style->dialect != LINE_KYMO) {
        char text[FORMAT_NAME_MAX];

        out_bytes(out, text, line_call_text(text, sizeof(text), desc, style));
    } else { /* the same, fast */
        out_str(out, desc->name);
        out_char(out, '/');
        out_u64(out, desc->number);
    }
    line_call_body(out, kev, event, desc, style);
}

const char *line_group_name(const struct kev_event *event)
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

static void line_group(struct out *out, const struct kev_event *event, const struct kev_desc *desc,
                       const struct line_style *style)
{
    struct kev_field fields[KEV_ARGS_MAX];
    struct line_style own = line_group_style(event, style);
    const char *group = line_group_name(event);

    if (group != NULL) {
        out_str(out, group);
    } else {
        out_str(out, kev_class_name(event->class));
        out_char(out, ':');
    }
    line_named(out, desc->name, fields, line_group_fields(event, desc, fields), &own);
}

static void line_unknown(struct out *out, const struct kev_event *event,
                         const struct line_style *style)
{
    out_str(out, line_class_name(event));
    out_str(out, ":EVENT:");
    out_u64(out, event->number);
    line_words(out, event, style);
}

void line_event(struct out *out, const struct kev *kev, const struct kev_event *event,
                const struct line_style *style)
{
    const struct kev_desc *desc;

    if (style->format != NULL) {
        line_formatted(out, kev, event, style);
        return;
    }
    line_start(out, kev, event, style);
    if (event->class == TRACE_CLASS_USER) {
        line_user(out, event, style);
        return;
    }
    if (line_control(out, event, style)) {
        return;
    }
    desc = kev_describe(kev, event->class, event->number);
    if (desc == NULL) {
        line_unknown(out, event, style);
    } else if (desc->kind != KEV_PLAIN) {
        line_call(out, kev, event, desc, style);
    } else if (event->class != TRACE_CLASS_INT) {
        line_group(out, event, desc, style);
    } else if (!line_int(out, event, desc, style)) {
        line_unknown(out, event, style);
    }
}

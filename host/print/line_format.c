/* SPDX-License-Identifier: BSD-2-Clause */
/* A line whose head is the format's of -p: values of its conversions, by class. */
#include <stdio.h>

#include "host/print/line.h"

static void name_is(char *to, const char *name)
{
    snprintf(to, FORMAT_NAME_MAX, "%s", name);
}

static void names_control(struct format_event *to, const struct kev_event *event)
{
    name_is(to->class, "CONTROL");
    name_is(to->number, event->number == TRACE_CONTROL_TIME     ? "TIME"
                        : event->number == TRACE_CONTROL_BUFFER ? "BUFFER"
                                                                : "DROPPED");
}

static void names_call(struct format_event *to, const struct kev_desc *desc,
                       const struct line_style *style)
{
    name_is(to->class, desc->kind == KEV_CALL_ENTER  ? "KER_CALL"
                       : desc->kind == KEV_CALL_EXIT ? "KER_EXIT"
                                                     : "INT_CALL");
    line_call_text(to->number, FORMAT_NAME_MAX, desc, style);
}

static void names_int(struct format_event *to, const struct kev_event *event,
                      const struct kev_desc *desc)
{
    uint32_t number = line_int_number(event, desc);

    name_is(to->class, desc->name);
    snprintf(to->number, FORMAT_NAME_MAX, "0x%08x (%d)", number, (int32_t)number);
}

static void names_group(struct format_event *to, const struct kev_event *event,
                        const struct kev_desc *desc)
{
    const char *group = line_group_name(event);

    name_is(to->class, group == NULL ? kev_class_name(event->class) : group);
    if (group != NULL) {
        to->class[strcspn(to->class, " :")] = '\0';
    }
    name_is(to->number, desc->name);
}

static void names_bare(struct format_event *to, const struct kev_event *event)
{
    bool user = event->class == TRACE_CLASS_USER;

    name_is(to->class, user ? "USREVENT" : line_class_name(event));
    snprintf(to->number, FORMAT_NAME_MAX, "EVENT:%u", event->number);
}

static void names(struct format_event *to, const struct kev_event *event,
                  const struct kev_desc *desc, const struct line_style *style)
{
    if (line_is_control(event)) {
        names_control(to, event);
    } else if (desc == NULL || event->class == TRACE_CLASS_USER) {
        names_bare(to, event);
    } else if (desc->kind != KEV_PLAIN) {
        names_call(to, desc, style);
    } else if (event->class != TRACE_CLASS_INT) {
        names_group(to, event, desc);
    } else if (line_int_known(event, desc)) {
        names_int(to, event, desc);
    } else {
        names_bare(to, event);
    }
}

static int64_t cycles_to_ns(uint64_t cycles, uint64_t hz)
{
    return (int64_t)((unsigned __int128)cycles * 1000000000u / hz);
}

/* Where the order is the file's, an event may be older than the first. */
static int64_t since_first(uint64_t time, uint64_t first, uint64_t hz)
{
    return time >= first ? cycles_to_ns(time - first, hz) : -cycles_to_ns(first - time, hz);
}

void line_formatted(struct out *out, const struct kev *kev, const struct kev_event *event,
                    const struct line_style *style)
{
    const struct kev_desc *desc = kev_describe(kev, event->class, event->number);
    struct format_event to = {
        .cycles = event->time,
        .index = style->index,
        .cpu = event->cpu,
        .ns = since_first(event->time, style->first, kev_info(kev)->cycles_per_sec)};

    names(&to, event, desc, style);
    format_print(out, style->format, &to);
    line_body(out, kev, event, desc, style);
}

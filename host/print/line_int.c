/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of class INT: each of its events has a shape of its own.
 */
#include "host/print/line.h"
#include "abi/sys/neutrino.h"
#include "trace/slot.h"

static void int_field(struct out *out, const char *name, const struct kev_field *field)
{
    out_str(out, name);
    line_value(out, field);
}

static const char *sigevent_name(uint64_t notify)
{
    switch (notify) {
    case SIGEV_NONE:
        return "NONE";
    case SIGEV_SIGNAL:
        return "SIGNAL";
    case SIGEV_PULSE:
        return "PULSE";
    case SIGEV_UNBLOCK:
        return "UNBLOCK";
    case SIGEV_INTR:
        return "INTR";
    default:
        return NULL;
    }
}

static void int_handler_exit(struct out *out, const struct kev_field *fields, unsigned n)
{
    const char *name = sigevent_name(fields[1].value);

    out_str(out, " SIGEVENT:");
    if (name != NULL) {
        out_str(out, name);
    } else {
        out_u64(out, fields[1].value);
    }
    for (unsigned i = 2; i < n && fields[1].value == SIGEV_PULSE; i++) {
        out_char(out, ' ');
        out_str(out, fields[i].arg->name);
        out_char(out, ':');
        line_value(out, &fields[i]);
    }
}

static unsigned kind_of(const struct kev_event *event)
{
    return event->number & ~TRACE_EVENT_64;
}

bool line_int_known(const struct kev_event *event, const struct kev_desc *desc)
{
    struct kev_field fields[KEV_ARGS_MAX];
    unsigned n = kev_decode(event, desc, fields);

    return n >= 2 && (kind_of(event) != 3 || n >= 4);
}

uint32_t line_int_number(const struct kev_event *event, const struct kev_desc *desc)
{
    struct kev_field fields[KEV_ARGS_MAX];

    kev_decode(event, desc, fields);
    return (uint32_t)fields[kind_of(event) == 3 ? 1 : 0].value;
}

static void int_body(struct out *out, unsigned kind, const struct kev_field *fields, unsigned n,
                     const struct line_style *style)
{
    if (kind == 1) {
        int_field(out, " IP:", &fields[1]);
    } else if (kind == 2) {
        int_field(out, " inkernel:", &fields[1]);
    } else if (kind == 3) {
        int_field(out, " PID:", &fields[0]);
        line_id_name(out, fields, n, 0, style->owners);
        int_field(out, " IP:", &fields[2]);
        int_field(out, " AREA:", &fields[3]);
    } else if (kind == 4) {
        int_handler_exit(out, fields, n);
    } else {
        int_field(out, " ", &fields[1]);
    }
    out_char(out, '\n');
}

void line_int_body(struct out *out, const struct kev_event *event, const struct kev_desc *desc,
                   const struct line_style *style)
{
    struct kev_field fields[KEV_ARGS_MAX];
    unsigned n = kev_decode(event, desc, fields);

    int_body(out, kind_of(event), fields, n, style);
}

bool line_int(struct out *out, const struct kev_event *event, const struct kev_desc *desc,
              const struct line_style *style)
{
    struct kev_field fields[KEV_ARGS_MAX];
    unsigned n = kev_decode(event, desc, fields);
    unsigned kind = kind_of(event);
    uint32_t number;

    if (n < 2 || (kind == 3 && n < 4)) {
        return false;
    }
    number = (uint32_t)fields[kind == 3 ? 1 : 0].value;
    out_str(out, desc->name);
    out_char(out, ':');
    out_hex32(out, number);
    out_str(out, " (");
    out_i64(out, (int32_t)number);
    out_str(out, kind == 1 || kind == 3 ? ")      " : ")");
    int_body(out, kind, fields, n, style);
    return true;
}

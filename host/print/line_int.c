/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of class INT: each of its events has a shape of its own. Called by line.c.
 */
#include "host/print/line.h"
#include "abi/sys/neutrino.h"
#include "trace/slot.h"

enum { INT_ENTRY = 1, INT_EXIT, HANDLER_ENTRY, HANDLER_EXIT };

static unsigned line_int_kind_of(const struct kev_event *event)
{
    return event->number & ~TRACE_EVENT_64;
}

uint32_t line_int_number(const struct kev_event *event, const struct kev_field *fields)
{
    return (uint32_t)fields[line_int_kind_of(event) == HANDLER_ENTRY ? 1 : 0].value;
}

void line_int_name(struct out *out, const struct kev_event *event, const struct kev_desc *desc,
                   const struct kev_field *fields)
{
    uint32_t number = line_int_number(event, fields);
    bool entry = line_int_kind_of(event) == INT_ENTRY || line_int_kind_of(event) == HANDLER_ENTRY;

    out_str(out, desc->name);
    out_char(out, ':');
    out_hex32(out, number);
    out_str(out, " (");
    out_i64(out, (int32_t)number);
    out_str(out, entry ? ")      " : ")");
}

static void put_field(struct out *out, const char *name, const struct kev_field *field)
{
    out_str(out, name);
    line_value(out, field);
}

/* The event that a handler returned: its kind, and of a pulse the rest. */
static void put_sigevent(struct out *out, const struct kev_field *fields, unsigned n)
{
    static const struct {
        unsigned notify;
        const char *name;
    } names[] = {{SIGEV_NONE, "NONE"},
                 {SIGEV_SIGNAL, "SIGNAL"},
                 {SIGEV_PULSE, "PULSE"},
                 {SIGEV_UNBLOCK, "UNBLOCK"},
                 {SIGEV_INTR, "INTR"}};
    const char *name = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        name = names[i].notify == fields[1].value ? names[i].name : name;
    }
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

void line_int_body(struct out *out, const struct kev_event *event, const struct kev_field *fields,
                   unsigned n, const struct line_style *style)
{
    switch (line_int_kind_of(event)) {
    case INT_ENTRY:
        put_field(out, " IP:", &fields[1]);
        break;
    case INT_EXIT:
        put_field(out, " inkernel:", &fields[1]);
        break;
    case HANDLER_ENTRY:
        put_field(out, " PID:", &fields[0]);
        line_id_name(out, fields, n, 0, style->owners);
        put_field(out, " IP:", &fields[2]);
        put_field(out, " AREA:", &fields[3]);
        break;
    case HANDLER_EXIT:
        put_sigevent(out, fields, n);
        break;
    default:
        put_field(out, " ", &fields[1]);
        break;
    }
    out_char(out, '\n');
}

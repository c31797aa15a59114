/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See record.h: an event's names and arguments.
 */
#include "host/print/record.h"

#include "host/when.h"
#include "abi/sys/trace.h"

static const char *class_name(const struct kev_event *event)
{
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64;

    switch (event->class) {
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        return (number & TRACE_KERCALL_INT) != 0    ? "INT_CALL"
               : (number & TRACE_KERCALL_EXIT) != 0 ? "KER_EXIT"
                                                    : "KER_CALL";
    case TRACE_CLASS_PR_TH:
        return number >= 64 ? "PROCESS" : number >= 26 ? "VTHREAD" : "THREAD";
    default:
        return kev_class_name(event->class);
    }
}

static void field_text(struct kev_field *field, const struct kev_arg *arg, const char *text)
{
    *field = (struct kev_field){.arg = arg, .text = text, .len = strlen(text)};
}

/* The two parts of DROPPED's first word, and the count. */
static void dropped_fields(struct record *record, const struct kev_event *event)
{
    static const struct kev_arg args[] = {{.type = 'N', .name = "class"},
                                          {.type = 'E', .name = "num_events"},
                                          {.type = 'N', .name = "reason"}};
    const char *reason = line_drop_reason(kev_word(event, 0) >> 8);

    record->nfields = 3;
    field_text(&record->fields[0], &args[0], kev_class_name(kev_word(event, 0) & 0xff));
    record->fields[1] =
        (struct kev_field){.arg = &args[1], .wide = true, .value = kev_word(event, 1)};
    field_text(&record->fields[2], &args[2], reason != NULL ? reason : "unknown");
}

/* The error of a kernel call that failed: its number, and its name if the capture has that. */
static void error_fields(struct record *record, const struct kev *kev,
                         const struct kev_event *event)
{
    static const struct kev_arg args[] = {{.type = 'D', .name = "ret_val"},
                                          {.type = 'D', .name = "errno"},
                                          {.type = 'N', .name = "error"}};
    unsigned at = record->fields[0].wide ? 2 : 1;
    const char *name = kev_error_name(kev, kev_word(event, at));

    record->nfields = 2;
    record->fields[0] = (struct kev_field){.arg = &args[0], .value = UINT32_MAX};
    record->fields[1] = (struct kev_field){.arg = &args[1], .value = kev_word(event, at)};
    if (name != NULL) {
        field_text(&record->fields[record->nfields++], &args[2], name);
    }
}

void record_fill(struct record *record, const struct kev *kev, const struct kev_event *event,
                 const struct line_style *style)
{
    const struct kev_desc *desc = kev_describe(kev, event->class, event->number);
    const struct kev_field *first = &record->fields[0];
    const struct owner *owner = &style->owner;
    bool user = event->class == TRACE_CLASS_USER;

    record->class = class_name(event);
    record->event = desc == NULL || user ? NULL : desc->name;
    record->number =
        event->number & (user                                ? ~0u
                         : trace_class_is_call(event->class) ? 127u
                                                             : ~(unsigned)TRACE_EVENT_64);
    record->ns = kymo_when_ns(event->time, style->first, kev_info(kev)->cycles_per_sec);
    record->process = owner->known ? owners_process(style->owners, owner->pid) : NULL;
    record->thread = owner->known ? owners_thread(style->owners, owner->pid, owner->tid) : NULL;
    record->nfields = 0;
    record->args = RECORD_FIELDS;
    if (user) {
        record->args = line_user_text(event, &record->text_len) ? RECORD_TEXT : RECORD_WORDS;
    } else if (event->class == TRACE_CLASS_CONTROL && event->number == TRACE_CONTROL_DROPPED) {
        dropped_fields(record, event);
    } else if (desc == NULL) {
        record->args = RECORD_WORDS;
    } else if (desc->kind == KEV_PLAIN) {
        record->nfields = line_fields_of(event, desc, record->fields);
        if (event->class == TRACE_CLASS_INT && !line_int_is_whole(event, record->nfields)) {
            record->args = RECORD_WORDS;
        }
    } else if (desc->kind != KEV_CALL_INT) {
        record->nfields = kev_decode(event, desc, record->fields);
        if (desc->kind == KEV_CALL_EXIT && record->nfields > 0 &&
            first->value == (first->wide ? UINT64_MAX : UINT32_MAX)) {
            error_fields(record, kev, event);
        }
    }
}

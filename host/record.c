/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See record.h. A short string of a user event is marked as one (trace/slot.h). Other user events
 * have no field that says whether they were inserted as words or as a string: they are taken for a
 * string if they are one beyond doubt. Captures older than version 3 of the system page have no
 * marks.
 */
#include "host/record.h"

#include <string.h>

#include "abi/sys/trace.h"
#include "host/event_numbers.h"
#include "host/pr_th.h"
#include "trace/slot.h"

/* Characters: a shorter text in a simple event may as well be two numbers. */
#define STRING_LEAST 5

/* ---- parts ------------------------------------------------------------------------- */

const char *record_drop_reason(uint32_t reason)
{
    static const char *const reasons[KYMO_DROP_REASONS] = {
#define R(number, name, text, doc) [number] = text,
        KYMO_DROP_REASON_LIST(R)
#undef R
    };

    return reason < KYMO_DROP_REASONS ? reasons[reason] : NULL;
}

unsigned record_fields(const struct kev_event *event, const struct kev_desc *desc,
                       struct kev_field *fields)
{
    static const struct kev_arg scheduler[] = {{.type = 'D', .name = "partition"},
                                               {.type = 'H', .name = "sched_flags"}};
    unsigned n = kev_decode(event, desc, fields);

    /* Wide thread events of other kernels, where a scheduler of partitions is loaded. */
    if (record_is_thread(event) && n == 4 && event->nwords >= 6) {
        for (; n < 6; n++) {
            fields[n] = (struct kev_field){.arg = &scheduler[n - 4], .value = kev_word(event, n)};
        }
    }
    return n;
}

/* Beyond doubt: printable characters, a NUL, and zeros up to the end of the slot. */
bool record_user_text(const struct kev_event *event, size_t *len)
{
    const char *text = (const char *)event->words;
    size_t bytes = 4 * (size_t)event->nwords;
    bool marked = event->nwords == 4 && kev_word(event, 2) == TRACE_SHORT_TEXT_D1 &&
                  kev_word(event, 3) == TRACE_SHORT_TEXT_D2;

    if (event->log_text) {
        *len = strnlen(text, bytes);
        return true;
    }
    if (marked && memchr(text, '\0', TRACE_SHORT_TEXT_BYTES) != NULL) {
        *len = strlen(text);
        return true;
    }
    *len = strnlen(text, bytes);
    if (*len < STRING_LEAST || *len >= bytes || bytes - *len > 8) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        char c = text[i];
        bool printable = (c >= ' ' && c < 0x7f) || c == '\t' || c == '\n';
        if (i < *len ? !printable : c != '\0') {
            return false;
        }
    }
    return true;
}

bool record_int_is_whole(const struct kev_event *event, unsigned nfields)
{
    return nfields >= ((event->number & ~TRACE_EVENT_64) == NUMBER_int_handler_entry ? 4 : 2);
}

/* ---- a record ---------------------------------------------------------------------- */

static const char *record_class_name(const struct kev_event *event)
{
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64;

    switch (event->class) {
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        return (number & TRACE_KERCALL_INT) != 0    ? "INT_CALL"
               : (number & TRACE_KERCALL_EXIT) != 0 ? "KER_EXIT"
                                                    : "KER_CALL";
    case TRACE_CLASS_PR_TH:
        return number >= PR_TH_PROCCREATE ? "PROCESS"
               : number >= PR_TH_VTHREADS ? "VTHREAD"
                                          : "THREAD";
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
    const char *reason = record_drop_reason(kev_word(event, 0) >> 8);

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

static inline __attribute__((always_inline)) void
name_fill(struct record *record, const struct kev_event *event, const struct kev_desc *desc)
{
    bool user = event->class == TRACE_CLASS_USER;

    record->class = record_class_name(event);
    record->event = desc == NULL || user ? NULL : desc->name;
    record->number =
        event->number & (user                                ? ~0u
                         : trace_class_is_call(event->class) ? 127u
                                                             : ~(unsigned)TRACE_EVENT_64);
}

static inline __attribute__((always_inline)) void arguments_fill(struct record *record,
                                                                 const struct kev *kev,
                                                                 const struct kev_event *event,
                                                                 const struct kev_desc *desc)
{
    const struct kev_field *first = &record->fields[0];

    record->nfields = 0;
    record->args = RECORD_FIELDS;
    if (event->class == TRACE_CLASS_USER) {
        record->args = record_user_text(event, &record->text_len) ? RECORD_TEXT : RECORD_WORDS;
    } else if (event->class == TRACE_CLASS_CONTROL && event->number == TRACE_CONTROL_DROPPED) {
        dropped_fields(record, event);
    } else if (desc == NULL) {
        record->args = RECORD_WORDS;
    } else if (desc->kind == KEV_PLAIN) {
        record->nfields = record_fields(event, desc, record->fields);
        if (event->class == TRACE_CLASS_INT && !record_int_is_whole(event, record->nfields)) {
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

void record_fill(struct record *record, const struct kev *kev, const struct kev_event *event)
{
    const struct kev_desc *desc = kev_describe(kev, event->class, event->number);

    name_fill(record, event, desc);
    arguments_fill(record, kev, event, desc);
}

void record_name(struct record *record, const struct kev *kev, const struct kev_event *event)
{
    name_fill(record, event, kev_describe(kev, event->class, event->number));
}

void record_arguments(struct record *record, const struct kev *kev, const struct kev_event *event)
{
    arguments_fill(record, kev, event, kev_describe(kev, event->class, event->number));
}

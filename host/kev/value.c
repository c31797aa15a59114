/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values of an event: the fields of its record (host/record.h), with types, meanings and
 * names. They are made when the first one is asked for. Proof: test/host/kev/check, against `kymo
 * print --json`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kev/capture.h"
#include "trace/dtrace/log_event.h"
#include "trace/slot.h"

/* All texts of an event: its payload, and a NUL and a name of a class or so for each. */
#define TEXTS_ROOM (4 * KEV_WORDS_MAX + 64 * (KEV_ARGS_MAX + 1))

#define MEANINGS 16 /* by the length of the name */

/* The meaning of a number of this name, by the length of the name. */
static const struct {
    const char *name;
    enum kev_meaning meaning;
} meanings[MEANINGS][3] = {
    [3] = {{"pid", KEV_MEANS_PROCESS}, {"tid", KEV_MEANS_THREAD}},
    [4] = {{"ppid", KEV_MEANS_PROCESS},
           {"coid", KEV_MEANS_CONNECTION},
           {"chid", KEV_MEANS_CHANNEL}},
    [5] = {{"rcvid", KEV_MEANS_MESSAGE},
           {"scoid", KEV_MEANS_CONNECTION},
           {"errno", KEV_MEANS_ERRNO}},
    [8] = {{"si_signo", KEV_MEANS_SIGNAL}, {"priority", KEV_MEANS_PRIORITY}},
    [9] = {{"interrupt", KEV_MEANS_INTERRUPT}},
};

/* Words of D's events after the handle; the bytes that follow them (docs/reference/format.md,
 * D). */
static const struct {
    unsigned words;
    const char *names[4];
    bool bytes;
} d_events[] = {
    [DTRACE_LOG_NOTES] = {2, {"bytes", "offset"}, true},
    [DTRACE_LOG_RECORD] = {1, {"record"}, true},
    [DTRACE_LOG_TAKEN] = {3, {"pass", "records", "reserved"}, true},
    [DTRACE_LOG_ENTRY] = {3, {"pass", "cpu", "index"}, true},
    [DTRACE_LOG_ENTRIES] = {5, {"pass", "cpu", "entries", "drops"}, false},
    [DTRACE_LOG_STATUS] = {3, {"pass", "flags", "cpus"}, true},
    [DTRACE_LOG_PROCESS] = {3, {"pid", "reserved", "reserved1"}, true},
};

static bool values_room(struct kev_capture *capture, unsigned n)
{
    struct capture_value *values = capture->values;

    if (capture->texts == NULL) {
        capture->texts = malloc(TEXTS_ROOM);
    }
    if (n > capture->values_room) {
        values = realloc(values, n * sizeof(*values));
        capture->values = values == NULL ? capture->values : values;
        capture->values_room = values == NULL ? capture->values_room : n;
    }
    capture->no_memory |= values == NULL || capture->texts == NULL;
    return values != NULL && capture->texts != NULL;
}

/* `name` lives as long as the capture. */
static struct kev_value *kev_value_add(struct kev_capture *capture, const char *name)
{
    struct kev_value *value = &capture->values[capture->nvalues++].value;

    *value = (struct kev_value){.name = name};
    return value;
}

static void text_fill(struct kev_capture *capture, struct kev_value *value, uint32_t type,
                      const void *bytes, size_t length)
{
    char *to = capture->texts + capture->texts_used;
    size_t room = TEXTS_ROOM - capture->texts_used;

    length = length < room ? length : room - 1;
    memcpy(to, bytes, length);
    to[length] = '\0';
    capture->texts_used += length + (length + 1 < room);
    value->type = type;
    value->text = to;
    value->length = length;
}

static void number_fill(struct kev_value *value, uint32_t type, bool wide, uint64_t number)
{
    value->type = type;
    value->bits = wide ? 64 : 32;
    value->number = number;
    value->integer = wide ? (int64_t)number : (int32_t)(uint32_t)number;
}

/* ---- what a number is called ------------------------------------------------------- */

static enum kev_meaning meaning_of(const char *name)
{
    size_t length = strlen(name);

    for (unsigned i = 0; length < MEANINGS && i < 3 && meanings[length][i].name != NULL; i++) {
        if (memcmp(meanings[length][i].name, name, length) == 0) {
            return meanings[length][i].meaning;
        }
    }
    return KEV_MEANS_PLAIN;
}

/* A tid is one of the process that was named last. */
static void meaning_fill(struct kev_capture *capture, struct kev_value *value, int32_t *process)
{
    value->meaning = meaning_of(value->name);
    switch (value->meaning) {
    case KEV_MEANS_INTERRUPT:
    case KEV_MEANS_ERRNO:
        value->text = kev_capture_term(capture, value->meaning, (unsigned)value->number);
        break;
    case KEV_MEANS_PROCESS:
        *process = (int32_t)value->integer;
        value->text = kev_capture_name(capture, *process, KEV_NOBODY);
        break;
    case KEV_MEANS_THREAD:
        value->text = value->integer == KEV_NOBODY
                          ? NULL
                          : kev_capture_name(capture, *process, (int32_t)value->integer);
        break;
    default:
        return;
    }
    value->length = value->text == NULL ? 0 : strlen(value->text);
}

/* The process of a tid before which none is named: REPLY_MESSAGE and MSG_ERROR have the process
 * after the tid. */
static int32_t process_behind(const struct record *record)
{
    if (record->nfields == 2 && strcmp(record->fields[0].arg->name, "tid") == 0 &&
        strcmp(record->fields[1].arg->name, "pid") == 0) {
        return (int32_t)record->fields[1].value;
    }
    return KEV_NOBODY;
}

/* ---- the shapes of payloads -------------------------------------------------------- */

static uint32_t kev_value_type_of(char type)
{
    switch (type) {
    case 'D':
    case 'E':
        return KEV_VALUE_SIGNED;
    case 'P':
    case 'I':
        return KEV_VALUE_ADDRESS;
    default:
        return KEV_VALUE_UNSIGNED;
    }
}

static void fields_make(struct kev_capture *capture, const struct record *record)
{
    int32_t process = process_behind(record);

    for (unsigned i = 0; i < record->nfields; i++) {
        const struct kev_field *field = &record->fields[i];
        struct kev_value *value = kev_value_add(capture, field->arg->name);

        if (field->arg->type == 'N') {
            text_fill(capture, value, KEV_VALUE_TEXT, field->text, field->len);
        } else {
            number_fill(value, kev_value_type_of(field->arg->type), field->wide, field->value);
            meaning_fill(capture, value, &process);
        }
    }
}

static void words_make(struct kev_capture *capture)
{
    const struct kev_event *event = &capture->event;

    for (unsigned i = 0; i < event->nwords; i++) {
        char *name = capture->values[i].name;

        snprintf(name, sizeof(capture->values[i].name), "d%u", i);
        number_fill(kev_value_add(capture, name), KEV_VALUE_UNSIGNED, false, kev_word(event, i));
    }
}

static void d_make(struct kev_capture *capture)
{
    const struct kev_event *event = &capture->event;
    unsigned words = d_events[event->number].words, at = 1;
    int32_t process = KEV_NOBODY;

    number_fill(kev_value_add(capture, "handle"), KEV_VALUE_UNSIGNED, false, kev_word(event, 0));
    for (unsigned i = 0; at <= words && i < 4; i++) {
        bool wide = i == 3; /* the drops of ENTRIES */
        uint64_t number =
            kev_word(event, at) | (wide ? (uint64_t)kev_word(event, at + 1) << 32 : 0);
        struct kev_value *value = kev_value_add(capture, d_events[event->number].names[i]);

        number_fill(value, KEV_VALUE_UNSIGNED, wide, number);
        meaning_fill(capture, value, &process);
        at += wide ? 2 : 1;
    }
    if (d_events[event->number].bytes && at < event->nwords) {
        text_fill(capture, kev_value_add(capture, "data"), KEV_VALUE_BYTES, event->words + at,
                  4 * (size_t)(event->nwords - at));
    }
}

static bool is_d(const struct kev_event *event)
{
    return event->class == TRACE_CLASS_D && event->number > 0 &&
           event->number < sizeof(d_events) / sizeof(d_events[0]);
}

static void values_make(struct kev_capture *capture)
{
    const struct kev_event *event = &capture->event;
    struct record record;

    if (capture->decoded) {
        return;
    }
    capture->decoded = true;
    capture->nvalues = 0;
    capture->texts_used = 0;
    if (!capture->given) {
        return;
    }
    record_arguments(&record, capture->kev, event);
    if (!values_room(capture, event->nwords + KEV_ARGS_MAX)) {
        return;
    }
    if (is_d(event)) {
        d_make(capture);
    } else if (record.args == RECORD_TEXT) {
        text_fill(capture, kev_value_add(capture, "str"), KEV_VALUE_TEXT, event->words,
                  record.text_len);
    } else if (record.args == RECORD_WORDS) {
        words_make(capture);
    } else {
        fields_make(capture, &record);
    }
}

/* ---- for programs ------------------------------------------------------------------ */

unsigned kev_capture_values(struct kev_capture *capture)
{
    values_make(capture);
    return capture->nvalues;
}

const struct kev_value *kev_capture_value(struct kev_capture *capture, unsigned index)
{
    values_make(capture);
    return index < capture->nvalues ? &capture->values[index].value : NULL;
}

const struct kev_value *kev_capture_value_of(struct kev_capture *capture, const char *name)
{
    values_make(capture);
    for (unsigned i = 0; i < capture->nvalues; i++) {
        if (strcmp(capture->values[i].value.name, name) == 0) {
            return &capture->values[i].value;
        }
    }
    return NULL;
}

unsigned kev_capture_words(struct kev_capture *capture, const uint32_t **words)
{
    const struct kev_event *event = &capture->event;

    *words = NULL;
    if (!capture->given) {
        return 0;
    }
    if (!event->swapped) {
        *words = event->words;
        return event->nwords;
    }
    if (capture->words == NULL) {
        capture->words = malloc(KEV_WORDS_MAX * sizeof(*capture->words));
    }
    for (unsigned i = 0; capture->words != NULL && i < event->nwords; i++) {
        capture->words[i] = kev_word(event, i);
    }
    *words = capture->words;
    return capture->words == NULL ? 0 : event->nwords;
}

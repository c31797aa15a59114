/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The facts that babeltrace2 gets of a capture before its events: clock, trace, environment, a
 * stream for each CPU; and event classes, each made when its first event is met, because only the
 * event says how many words it has. Names of the capture are escaped: a text sink writes them as
 * they are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/babeltrace2/source.h"
#include "host/escape.h"
#include "host/memory_stream.h"

/* A capture that was made to have endless event classes ends with an error. */
#define EVENTS_MOST 20000
#define TABLE 4096 /* a power of two */

struct source_event {
    struct source_event *next;
    uint32_t class_id, number;
    char *form; /* names and types of its values */
    const bt_event_class *event_class;
};

char *source_text(const char *text)
{
    size_t length = strlen(text);
    char *copy = malloc(ESCAPE_MOST(length) + 1);

    if (copy != NULL) {
        copy[escape_whole(text, length, copy)] = '\0';
    }
    return copy;
}

/* ---- trace and streams ------------------------------------------------------------------- */

static bool environment_add(struct source *source, const char *name, const char *value)
{
    char *text = value == NULL || *value == '\0' ? NULL : source_text(value);
    bool ok = value == NULL || *value == '\0' ||
              (text != NULL && bt_trace_set_environment_entry_string(source->trace, name, text) ==
                                   BT_TRACE_SET_ENVIRONMENT_ENTRY_STATUS_OK);

    free(text);
    return ok;
}

static bool environment_make(struct source *source, struct kev_capture *capture)
{
    const struct kev_facts *facts = kev_capture_facts(capture);
    bool ok = environment_add(source, "tracer_name", "kymo") &&
              environment_add(source, "board", facts->board) &&
              environment_add(source, "processor", facts->processor) &&
              environment_add(source, "release", facts->release) &&
              environment_add(source, "image", facts->image) &&
              environment_add(source, "build_id", facts->build_id) &&
              environment_add(source, "date", kev_capture_attribute(capture, "DATE")) &&
              bt_trace_set_environment_entry_integer(source->trace, "cpus", facts->cpus) ==
                  BT_TRACE_SET_ENVIRONMENT_ENTRY_STATUS_OK;
    const struct kev_item *item;
    unsigned n = 0;
    int outcome;

    while (ok && (outcome = kev_capture_next(capture, &item)) != KEV_COMPLETE &&
           outcome != KEV_LOSSY) {
        if (outcome == KEV_FAILED) {
            return false;
        }
        if (item->kind != KEV_ITEM_SCOPE) {
            break;
        }
        char name[32];

        snprintf(name, sizeof(name), "scope_%u", n++);
        ok = environment_add(source, name, item->loss->text);
    }
    return ok;
}

static bool member_add(bt_field_class *structure, const char *name, bt_field_class *member)
{
    bool ok = member != NULL && bt_field_class_structure_append_member(structure, name, member) ==
                                    BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK;

    bt_field_class_put_ref(member);
    return ok;
}

static bt_field_class *integer_class(bt_trace_class *trace_class, bool is_signed, unsigned bits)
{
    bt_field_class *made = is_signed ? bt_field_class_integer_signed_create(trace_class)
                                     : bt_field_class_integer_unsigned_create(trace_class);

    if (made != NULL) {
        bt_field_class_integer_set_field_value_range(made, bits);
    }
    return made;
}

/* Streams: packets with cpu_id in their context; each event has whose it is. */
static bool stream_class_make(struct source *source, bt_trace_class *trace_class)
{
    bt_field_class *packet = bt_field_class_structure_create(trace_class);
    bt_field_class *common = bt_field_class_structure_create(trace_class);
    bt_stream_class *made = bt_stream_class_create(trace_class);
    bool ok = packet != NULL && common != NULL && made != NULL &&
              member_add(packet, "cpu_id", integer_class(trace_class, false, 32)) &&
              member_add(common, "pid", integer_class(trace_class, true, 32)) &&
              member_add(common, "tid", integer_class(trace_class, true, 32)) &&
              member_add(common, "process", bt_field_class_string_create(trace_class)) &&
              member_add(common, "thread", bt_field_class_string_create(trace_class)) &&
              member_add(common, "dump", bt_field_class_bool_create(trace_class)) &&
              bt_stream_class_set_default_clock_class(made, source->clock_class) ==
                  BT_STREAM_CLASS_SET_DEFAULT_CLOCK_CLASS_STATUS_OK;

    source->stream_class = made;
    if (made != NULL) {
        bt_stream_class_set_assigns_automatic_stream_id(made, BT_FALSE);
    }
    if (ok) {
        bt_stream_class_set_supports_packets(made, BT_TRUE, BT_TRUE, BT_TRUE);
        bt_stream_class_set_supports_discarded_events(made, BT_TRUE, BT_TRUE);
        ok = bt_stream_class_set_packet_context_field_class(made, packet) ==
                 BT_STREAM_CLASS_SET_FIELD_CLASS_STATUS_OK &&
             bt_stream_class_set_event_common_context_field_class(made, common) ==
                 BT_STREAM_CLASS_SET_FIELD_CLASS_STATUS_OK;
    }
    bt_field_class_put_ref(packet);
    bt_field_class_put_ref(common);
    return ok;
}

static bool clock_class_make(struct source *source)
{
    uint64_t frequency = source->facts.cycles_per_second, start = source->facts.start;
    bt_clock_class *made = bt_clock_class_create(source->self);

    source->clock_class = made;
    if (made == NULL) {
        return false;
    }
    /* A stamp is the capture's own; the offset takes the start away, so that time 0 is where
     * `kymo print` has it. The offset's cycles are less than a second of them. */
    uint64_t seconds = start / frequency + (start % frequency != 0);

    bt_clock_class_set_frequency(made, frequency);
    bt_clock_class_set_offset(made, -(int64_t)seconds,
                              start % frequency == 0 ? 0 : frequency - start % frequency);
    return bt_clock_class_set_name(made, "kymo") == BT_CLOCK_CLASS_SET_NAME_STATUS_OK;
}

bool source_describe(struct source *source, struct kev_capture *capture)
{
    source->facts = *kev_capture_facts(capture);
    source->cpus = source->facts.cpus < SOURCE_CPUS ? source->facts.cpus : SOURCE_CPUS;
    if (source->facts.cycles_per_second == 0) {
        source->facts.cycles_per_second = 1000000000;
    }
    source->events = calloc(TABLE, sizeof(struct source_event *));

    bt_trace_class *trace_class = bt_trace_class_create(source->self);
    bool ok = source->events != NULL && trace_class != NULL && clock_class_make(source) &&
              stream_class_make(source, trace_class) &&
              (source->trace = bt_trace_create(trace_class)) != NULL &&
              environment_make(source, capture);

    bt_trace_class_put_ref(trace_class);
    for (unsigned cpu = 0; ok && cpu < source->cpus; cpu++) {
        char name[16];

        snprintf(name, sizeof(name), "cpu%u", cpu);
        source->streams[cpu] = bt_stream_create_with_id(source->stream_class, source->trace, cpu);
        ok = source->streams[cpu] != NULL &&
             bt_stream_set_name(source->streams[cpu], name) == BT_STREAM_SET_NAME_STATUS_OK;
    }
    return ok;
}

void source_forget(struct source *source)
{
    for (unsigned i = 0; source->events != NULL && i < TABLE; i++) {
        while (source->events[i] != NULL) {
            struct source_event *event = source->events[i];

            source->events[i] = event->next;
            free(event->form);
            free(event);
        }
    }
    free(source->events);
    for (unsigned cpu = 0; cpu < SOURCE_CPUS; cpu++) {
        bt_stream_put_ref(source->streams[cpu]);
    }
    bt_trace_put_ref(source->trace);
    bt_stream_class_put_ref(source->stream_class);
    bt_clock_class_put_ref(source->clock_class);
}

/* ---- event classes ------------------------------------------------------------------------ */

/* Returns a line for each value: type, bits, name. The caller frees the text. */
static char *bt2_metadata_form_make(struct kev_capture *capture)
{
    const struct kev_value *value;
    char *form = NULL;
    size_t size;
    FILE *file = memory_stream(&form, &size);

    if (file == NULL) {
        return NULL;
    }
    for (unsigned i = 0; (value = kev_capture_value(capture, i)) != NULL; i++) {
        fprintf(file, "%u %u %s\n", value->type, value->bits, value->name);
    }
    if (fclose(file) != 0) {
        free(form);
        form = NULL;
    }
    return form;
}

static bt_field_class *value_class(bt_trace_class *trace_class, const struct kev_value *value)
{
    if (value->type == KEV_VALUE_TEXT) {
        return bt_field_class_string_create(trace_class);
    }
    if (value->type == KEV_VALUE_BYTES) {
        bt_field_class *byte = integer_class(trace_class, false, 8);
        bt_field_class *made =
            byte == NULL ? NULL : bt_field_class_array_dynamic_create(trace_class, byte, NULL);

        bt_field_class_put_ref(byte);
        return made;
    }
    bt_field_class *made =
        integer_class(trace_class, value->type == KEV_VALUE_SIGNED, value->bits == 64 ? 64 : 32);

    if (made != NULL && value->type != KEV_VALUE_SIGNED) {
        bt_field_class_integer_set_preferred_display_base(
            made, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
    }
    return made;
}

/* A field's name: letters, digits and _ only, no other field's; the names of a capture may be any.
 */
static void bt2_metadata_field_name(bt_field_class *payload, const char *name, char to[80])
{
    size_t n = 0;

    for (; name[n] != '\0' && n < 63; n++) {
        char c = name[n];
        bool digit = c >= '0' && c <= '9';
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        to[n] = letter || (digit && n > 0) ? c : '_';
    }
    snprintf(to + n, 80 - n, "%s", n == 0 ? "_" : "");
    n = strlen(to);
    for (unsigned k = 2; bt_field_class_structure_borrow_member_by_name_const(payload, to) != NULL;
         k++) {
        snprintf(to + n, 80 - n, "_%u", k);
    }
}

static bool event_class_dress(bt_event_class *made, bt_field_class *payload,
                              bt_trace_class *trace_class, struct kev_capture *capture,
                              const struct kev_item *item)
{
    const struct kev_value *value;
    char plain[256], to[80];

    for (unsigned i = 0; (value = kev_capture_value(capture, i)) != NULL; i++) {
        bt2_metadata_field_name(payload, value->name, to);
        if (!member_add(payload, to, value_class(trace_class, value))) {
            return false;
        }
    }
    if (item->name != NULL) {
        snprintf(plain, sizeof(plain), "%s:%s", item->class_name, item->name);
    } else {
        snprintf(plain, sizeof(plain), "%s:%u", item->class_name, item->code);
    }

    char *name = source_text(plain);
    bool ok = name != NULL &&
              bt_event_class_set_name(made, name) == BT_EVENT_CLASS_SET_NAME_STATUS_OK &&
              bt_event_class_set_payload_field_class(made, payload) ==
                  BT_EVENT_CLASS_SET_FIELD_CLASS_STATUS_OK;

    free(name);
    return ok;
}

const bt_event_class *source_event_class(struct source *source, struct kev_capture *capture,
                                         const struct kev_item *item)
{
    struct source_event **at =
        &source->events[(item->class_id * 1031 + item->number) & (TABLE - 1)];
    char *form = bt2_metadata_form_make(capture);

    for (struct source_event *e = *at; form != NULL && e != NULL; e = e->next) {
        if (e->class_id == item->class_id && e->number == item->number &&
            strcmp(e->form, form) == 0) {
            free(form);
            return e->event_class;
        }
    }
    struct source_event *event =
        form == NULL || source->nevents >= EVENTS_MOST ? NULL : malloc(sizeof(*event));

    if (event == NULL) {
        free(form);
        return NULL;
    }
    bt_trace_class *trace_class = bt_stream_class_borrow_trace_class(source->stream_class);
    bt_event_class *made = bt_event_class_create(source->stream_class);
    bt_field_class *payload = bt_field_class_structure_create(trace_class);
    bool ok = made != NULL && payload != NULL &&
              event_class_dress(made, payload, trace_class, capture, item);

    bt_field_class_put_ref(payload);
    bt_event_class_put_ref(made); /* the stream class keeps it */
    if (!ok) {
        free(form);
        free(event);
        return NULL;
    }
    *event = (struct source_event){*at, item->class_id, item->number, form, made};
    *at = event;
    source->nevents++;
    return made;
}

/* ---- an event's fields -------------------------------------------------------------------- */

/* An unknown name is "-": of an empty text, source.ctf.fs of babeltrace2 2.0 gives an earlier one.
 */
static bool text_set(bt_field *field, const char *text)
{
    char *escaped = source_text(text == NULL ? "-" : text);
    bool ok = escaped != NULL && bt_field_string_set_value(field, escaped) == 0;

    free(escaped);
    return ok;
}

static bool value_set(bt_field *field, const struct kev_value *value)
{
    switch (value->type) {
    case KEV_VALUE_TEXT:
        return text_set(field, value->text);
    case KEV_VALUE_BYTES:
        if (bt_field_array_dynamic_set_length(field, value->length) != 0) {
            return false;
        }
        for (size_t i = 0; i < value->length; i++) {
            bt_field_integer_unsigned_set_value(
                bt_field_array_borrow_element_field_by_index(field, i), (uint8_t)value->text[i]);
        }
        return true;
    case KEV_VALUE_SIGNED:
        bt_field_integer_signed_set_value(field, value->integer);
        return true;
    default:
        bt_field_integer_unsigned_set_value(field, value->bits == 64 ? value->number
                                                                     : (uint32_t)value->number);
        return true;
    }
}

bool source_event_fill(bt_event *event, struct kev_capture *capture, const struct kev_item *item)
{
    bt_field *common = bt_event_borrow_common_context_field(event);
    bt_field *payload = bt_event_borrow_payload_field(event);
    const struct kev_value *value;
    const char *process = kev_capture_name(capture, item->pid, KEV_NOBODY);
    const char *thread = kev_capture_name(capture, item->pid, item->tid);

    bt_field_integer_signed_set_value(bt_field_structure_borrow_member_field_by_index(common, 0),
                                      item->pid);
    bt_field_integer_signed_set_value(bt_field_structure_borrow_member_field_by_index(common, 1),
                                      item->tid);
    if (!text_set(bt_field_structure_borrow_member_field_by_index(common, 2), process) ||
        !text_set(bt_field_structure_borrow_member_field_by_index(common, 3), thread)) {
        return false;
    }
    bt_field_bool_set_value(bt_field_structure_borrow_member_field_by_index(common, 4),
                            (item->flags & KEV_FLAG_DUMP) != 0 ? BT_TRUE : BT_FALSE);
    for (unsigned i = 0; (value = kev_capture_value(capture, i)) != NULL; i++) {
        if (!value_set(bt_field_structure_borrow_member_field_by_index(payload, i), value)) {
            return false;
        }
    }
    return true;
}

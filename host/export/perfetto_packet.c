/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --perfetto: packets, with their texts and annotations.
 */
#include <stdlib.h>
#include <string.h>

#include "host/export/perfetto.h"
#include "host/kymo.h"

/* A text of the capture as UTF-8 that moves no cursor; lives until perfetto_packet_put(). */
static char *perfetto_text_of(struct export *export, const char *text, size_t length)
{
    struct perfetto *perfetto = perfetto_of(export);
    bool plain = true;
    char *escaped;

    for (size_t i = 0; i < length && plain; i++) {
        plain = text[i] >= ' ' && text[i] < 0x7f;
    }
    if (plain && text[length] == '\0') {
        return (char *)text;
    }
    escaped = perfetto->ntexts == sizeof(perfetto->texts) / sizeof(perfetto->texts[0])
                  ? NULL
                  : types_text(text, length);
    if (escaped == NULL) {
        kymo_error("%s: an event with more than %u texts", export->input, NOTES);
        perfetto->failed = true;
        return (char *)"";
    }
    perfetto->texts[perfetto->ntexts++] = escaped;
    return escaped;
}

char *perfetto_string_of(struct export *export, const char *text)
{
    return perfetto_text_of(export, text == NULL ? "-" : text, strlen(text == NULL ? "-" : text));
}

char *perfetto_copy_of(struct export *export, const char *text)
{
    struct perfetto *perfetto = perfetto_of(export);
    char *kept = perfetto_string_of(export, text);

    if (kept == text) {
        kept = perfetto->ntexts == sizeof(perfetto->texts) / sizeof(perfetto->texts[0])
                   ? NULL
                   : strdup(text);
        if (kept == NULL) {
            kymo_error("out of memory");
            perfetto->failed = true;
            return (char *)"";
        }
        perfetto->texts[perfetto->ntexts++] = kept;
    }
    return kept;
}

void perfetto_packet_put(struct export *export, Perfetto__TracePacket *packet)
{
    struct perfetto *perfetto = perfetto_of(export);
    size_t size;

    packet->has_trusted_packet_sequence_id = 1;
    packet->trusted_packet_sequence_id = SEQUENCE;
    size = perfetto__trace_packet__get_packed_size(packet);
    if (size > perfetto->room) {
        uint8_t *more = realloc(perfetto->bytes, 2 * size);

        if (more == NULL) {
            kymo_error("out of memory");
            perfetto->failed = true;
            return;
        }
        perfetto->bytes = more;
        perfetto->room = 2 * size;
    }
    perfetto__trace_packet__pack(packet, perfetto->bytes);
    out_char(export->out, 1 << 3 | 2); /* Trace.packet, a message */
    for (size_t rest = size; true; rest >>= 7) {
        out_char(export->out, (char)(rest < 128 ? rest : rest % 128 + 128));
        if (rest < 128) {
            break;
        }
    }
    out_bytes(export->out, (const char *)perfetto->bytes, size);
    while (perfetto->ntexts > 0) {
        free(perfetto->texts[--perfetto->ntexts]);
    }
    perfetto->nnotes = 0;
}

/* A track; `counter`: of numbers. */
void perfetto_track_put(struct export *export, uint64_t uuid, uint64_t parent, const char *name,
                        bool counter)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
    Perfetto__CounterDescriptor numbers = PERFETTO__COUNTER_DESCRIPTOR__INIT;

    track.has_uuid = 1;
    track.uuid = uuid;
    track.has_parent_uuid = parent != 0;
    track.parent_uuid = parent;
    track.name = perfetto_string_of(export, name);
    track.counter = counter ? &numbers : NULL;
    packet.track_descriptor = &track;
    perfetto_packet_put(export, &packet);
}

static Perfetto__DebugAnnotation *note_add(struct export *export, const char *name)
{
    struct perfetto *perfetto = perfetto_of(export);
    Perfetto__DebugAnnotation *note;

    if (perfetto->nnotes == NOTES) {
        kymo_error("%s: an event with more than %u values", export->input, NOTES);
        perfetto->failed = true;
        perfetto->nnotes--;
    }
    note = &perfetto->notes[perfetto->nnotes];
    perfetto->note_at[perfetto->nnotes++] = note;
    perfetto__debug_annotation__init(note);
    note->name = perfetto_string_of(export, name);
    return note;
}

void perfetto_note_number(struct export *export, const char *name, int64_t value)
{
    Perfetto__DebugAnnotation *note = note_add(export, name);

    note->has_int_value = 1;
    note->int_value = value;
}

void perfetto_note_text(struct export *export, const char *name, const char *text)
{
    note_add(export, name)->string_value = perfetto_string_of(export, text);
}

void perfetto_note_values(struct export *export)
{
    const struct kev_value *value;

    for (unsigned i = 0; (value = kev_capture_value(export->capture, i)) != NULL; i++) {
        Perfetto__DebugAnnotation *note = note_add(export, value->name);

        if (value->type == KEV_VALUE_TEXT || value->type == KEV_VALUE_BYTES) {
            note->string_value = perfetto_text_of(export, value->text, value->length);
        } else if (value->type == KEV_VALUE_SIGNED) {
            note->has_int_value = 1;
            note->int_value = value->integer;
        } else if (value->type == KEV_VALUE_ADDRESS) {
            note->has_pointer_value = 1;
            note->pointer_value = value->number;
        } else {
            note->has_uint_value = 1;
            note->uint_value = value->number;
        }
    }
}

/* A track event with the annotations so far. Its flows are set by the caller. */
void perfetto_event_put(struct export *export, Perfetto__TrackEvent *event,
                        Perfetto__TrackEvent__Type type, uint64_t track, int64_t ns)
{
    struct perfetto *perfetto = perfetto_of(export);
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

    event->has_type = 1;
    event->type = type;
    event->has_track_uuid = 1;
    event->track_uuid = track;
    event->n_debug_annotations = perfetto->nnotes;
    event->debug_annotations = perfetto->note_at;
    packet.has_timestamp = 1;
    packet.timestamp = ns < 0 ? 0 : (uint64_t)ns;
    packet.track_event = event;
    perfetto_packet_put(export, &packet);
}

void perfetto_named_put(struct export *export, Perfetto__TrackEvent__Type type, uint64_t track,
                        int64_t ns, const char *category, const char *name)
{
    Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
    char *categories[] = {(char *)category};

    event.n_categories = category != NULL;
    event.categories = categories;
    event.name = name == NULL ? NULL : perfetto_string_of(export, name);
    perfetto_event_put(export, &event, type, track, ns);
}

void perfetto_counter_put(struct export *export, uint64_t track, int64_t ns, uint64_t value)
{
    Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

    event.has_counter_value = 1;
    event.counter_value = (int64_t)value;
    perfetto_event_put(export, &event, PERFETTO__TRACK_EVENT__TYPE__COUNTER, track, ns);
}

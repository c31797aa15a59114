/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --ctf: a folder in CTF 1.8, as LTTng writes it, for babeltrace2 and Trace Compass: kernel/ with
 * all events, and ust/ with the functions that programs have recorded, if there are any. A stream
 * is a CPU. What was lost is a packet without events, after which `events_discarded` is more; and
 * an event kymo_lost that says all of it. docs/reference/export.md has the table of events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/ctf.h"
#include "host/kymo.h"
#include "host/output_folder.h"
#include "trace/slot.h"

#define PACKET_BYTES 65536
#define PACKET_HEAD (4 + 16 + 4 + 8 + 6 * 8 + 4)
#define MAGIC 0xc1fc1fc1u
#define SECONDS_MOST 9223372036 /* of which nanoseconds have 63 bits */

struct ctf {
    struct flow *flow;
    struct output_folder folder;
    struct ctf_trace traces[2]; /* kernel, ust */
    char *scopes[CTF_SCOPES];
    unsigned nscopes;
};
enum { KERNEL, UST };

static struct ctf *ctf_of(const struct export *export)
{
    return export->state;
}

/* ---- streams ----------------------------------------------------------------------- */

static uint8_t *ctf_put32(uint8_t *to, uint32_t value)
{
    memcpy(to, &value, sizeof(value));
    return to + sizeof(value);
}

static uint8_t *ctf_put64(uint8_t *to, uint64_t value)
{
    memcpy(to, &value, sizeof(value));
    return to + sizeof(value);
}

/* Memory for so many bytes more of the packet; NULL: there is none, reported. */
static uint8_t *stream_more(struct ctf_stream *stream, size_t bytes)
{
    if (stream->used + bytes > stream->room) {
        size_t room = 2 * (stream->used + bytes) + 4096;
        uint8_t *more = realloc(stream->bytes, room);

        if (more == NULL) {
            kymo_error("out of memory");
            return NULL;
        }
        stream->bytes = more;
        stream->room = room;
    }
    stream->used += bytes;
    return stream->bytes + stream->used - bytes;
}

static int packet_write(struct export *export, struct ctf_trace *trace, unsigned cpu,
                        uint64_t first, uint64_t last, const uint8_t *bytes, size_t used)
{
    struct ctf_stream *stream = &trace->streams[cpu];
    uint8_t head[PACKET_HEAD], *to = ctf_put32(head, MAGIC);
    uint64_t bits = 8 * (uint64_t)(PACKET_HEAD + used);

    ctf_uuid(export, trace->domain, to);
    to = ctf_put64(ctf_put32(to + 16, 0), cpu);
    to = ctf_put64(ctf_put64(ctf_put64(ctf_put64(to, first), last), bits), bits);
    ctf_put32(ctf_put64(ctf_put64(to, stream->packets++), stream->discarded), cpu);
    stream->any = true;
    output_write(&stream->output, head, sizeof(head));
    output_write(&stream->output, bytes, used);
    return stream->output.error == 0 ? 0 : -1; /* output_commit() says why */
}

static int ctf_packet_end(struct export *export, struct ctf_trace *trace, unsigned cpu)
{
    struct ctf_stream *stream = &trace->streams[cpu];
    size_t used = stream->used;

    stream->used = 0;
    stream->fresh = true;
    return used == 0
               ? 0
               : packet_write(export, trace, cpu, stream->first, stream->last, stream->bytes, used);
}

static struct ctf_stream *stream_open(struct export *export, struct ctf_trace *trace, unsigned cpu)
{
    struct ctf *ctf = ctf_of(export);
    struct ctf_stream *stream = &trace->streams[cpu];
    char name[32];

    if (stream->open) {
        return stream;
    }
    if (!trace->used && output_folder_add(&ctf->folder, trace->domain) != 0) {
        return NULL;
    }
    trace->used = true;
    snprintf(name, sizeof(name), "%s/cpu%u", trace->domain, cpu);
    stream->path = output_folder_path(&ctf->folder, name);
    if (stream->path == NULL || output_open(&stream->output, stream->path, OUTPUT_NEW) != 0) {
        return NULL;
    }
    stream->open = stream->fresh = true;
    return stream;
}

/* ---- events ------------------------------------------------------------------------ */

static int ctf_text_put(struct ctf_stream *stream, const char *text, size_t length)
{
    bool plain = true;
    char *escaped = NULL;
    uint8_t *to;

    for (size_t i = 0; i < length && plain; i++) {
        plain = text[i] >= ' ' && text[i] < 0x7f;
    }
    if (!plain) {
        escaped = types_text(text, length);
        text = escaped;
        length = strlen(escaped);
    }
    to = stream_more(stream, length + 1);
    if (to != NULL) {
        memcpy(to, text, length);
        to[length] = '\0';
    }
    free(escaped);
    return to == NULL ? -1 : 0;
}

static int ctf_string_put(struct ctf_stream *stream, const char *text)
{
    text = text == NULL ? "-" : text;
    return ctf_text_put(stream, text, strlen(text));
}

static int ctf_number_put(struct ctf_stream *stream, uint64_t value, unsigned bits)
{
    uint8_t *to = stream_more(stream, bits / 8);

    if (to == NULL) {
        return -1;
    }
    for (unsigned i = 0; i < bits / 8; ++i) {
        to[i] = (uint8_t)(value >> 8 * i);
    }
    return 0;
}

static int ctf_thread_put(struct export *export, struct ctf_stream *stream,
                          const struct flow_thread *thread)
{
    char name[512];

    linux_comm(export, thread, name, sizeof(name));
    return ctf_string_put(stream, name) | ctf_number_put(stream, (uint32_t)linux_tid(thread), 32) |
           ctf_number_put(stream, (uint32_t)linux_priority(thread), 32);
}

/* The fields of ctf_types.c's standard[]. */
static int standard_put(struct export *export, struct ctf_stream *stream, int role,
                        const struct kev_item *item, const struct flow_step *step)
{
    const char *name;

    switch (role) {
    case LINUX_SWITCH:
        return ctf_thread_put(export, stream, step->previous) |
               ctf_number_put(stream, (uint64_t)linux_previous_state(step), 64) |
               ctf_thread_put(export, stream, step->running);
    case LINUX_WAKE:
        return ctf_thread_put(export, stream, step->woken) |
               ctf_number_put(stream, (uint32_t)item->cpu, 32);
    case LINUX_EXIT:
        return ctf_thread_put(export, stream, step->thread);
    case LINUX_IRQ_ENTRY:
        name = kev_capture_term(export->capture, KEV_MEANS_INTERRUPT,
                                (unsigned)linux_value(export, "interrupt"));
        return ctf_number_put(stream, linux_value(export, "interrupt"), 32) |
               ctf_string_put(stream, name);
    case LINUX_IRQ_EXIT:
        return ctf_number_put(stream, linux_value(export, "interrupt"), 32) |
               ctf_number_put(stream, 1, 32);
    case LINUX_CALL_EXIT:
        return ctf_number_put(stream, linux_value(export, "ret_val"), 64);
    case LINUX_FUNCTION_ENTRY:
    case LINUX_FUNCTION_EXIT:
        return ctf_number_put(stream, linux_value(export, "thisfn"), 64) |
               ctf_number_put(stream, linux_value(export, "call_site"), 64);
    default:
        return 0;
    }
}

static int ctf_value_put(struct ctf_stream *stream, const struct kev_value *value)
{
    uint8_t *to;

    switch (value->type) {
    case KEV_VALUE_TEXT:
        return ctf_text_put(stream, value->text, value->length);
    case KEV_VALUE_BYTES:
        to = ctf_number_put(stream, value->length, 32) == 0 ? stream_more(stream, value->length)
                                                            : NULL;
        if (to != NULL) {
            memcpy(to, value->text, value->length);
        }
        return to == NULL ? -1 : 0;
    case KEV_VALUE_SIGNED:
        return ctf_number_put(stream, (uint64_t)value->integer, value->bits > 32 ? 64 : 32);
    default:
        return ctf_number_put(stream, value->number, value->bits > 32 ? 64 : 32);
    }
}

static int event_begin(struct ctf_stream *stream, uint32_t id, uint64_t stamp)
{
    uint8_t *to = stream_more(stream, 10);

    if (to == NULL) {
        return -1;
    }
    memcpy(to, &(uint16_t){(uint16_t)id}, 2);
    ctf_put64(to + 2, stamp);
    stream->last = stamp;
    return 0;
}

static int context_put(struct export *export, const struct ctf_trace *trace,
                       struct ctf_stream *stream, const struct kev_item *item,
                       const struct flow_step *step)
{
    char name[512];
    int32_t tid = step == NULL ? -1 : linux_current(item, step);
    int status =
        ctf_number_put(stream, (uint32_t)item->pid, 32) | ctf_number_put(stream, (uint32_t)tid, 32);

    if (strcmp(trace->domain, "ust") == 0) {
        linux_comm(export, step == NULL ? NULL : step->owner, name, sizeof(name));
        status |= ctf_string_put(stream, name);
    }
    return status | ctf_number_put(stream, (uint32_t)item->tid, 32) |
           ctf_number_put(stream, (item->flags & KEV_FLAG_DUMP) != 0, 8);
}

/* Cycles since the capture's start; on a CPU they never go back, and never are (in a damaged
 * capture) more than readers can have in nanoseconds. */
static uint64_t stamp_of(const struct export *export, const struct ctf_stream *stream,
                         uint64_t cycles)
{
    uint64_t frequency = export->facts->cycles_per_second;
    unsigned __int128 most =
        (unsigned __int128)SECONDS_MOST * (frequency == 0 ? 1000000000 : frequency);
    uint64_t stamp = cycles > export->facts->start ? cycles - export->facts->start : 0;

    stamp = stamp > most ? (uint64_t)most : stamp;
    return stamp < stream->last ? stream->last : stamp;
}

static int ctf_event_put(struct export *export, const struct kev_item *item,
                         const struct flow_step *step, int role)
{
    struct ctf *ctf = ctf_of(export);
    bool functions = role == LINUX_FUNCTION_ENTRY || role == LINUX_FUNCTION_EXIT;
    struct ctf_trace *trace = &ctf->traces[functions ? UST : KERNEL];
    unsigned cpu = (unsigned)item->cpu % FLOW_CPUS;
    struct ctf_stream *stream = stream_open(export, trace, cpu);
    const struct type *type = types_find(&trace->types, export, item, role);
    const struct kev_value *value;
    uint64_t stamp;

    if (stream == NULL || type == NULL) {
        return -1;
    }
    stamp = stamp_of(export, stream, item->cycles);
    if ((item->class_id == TRACE_CLASS_CONTROL && item->code == TRACE_CONTROL_BUFFER) ||
        stream->used >= PACKET_BYTES) {
        if (ctf_packet_end(export, trace, cpu) != 0) {
            return -1;
        }
    }
    stream->first = stream->used == 0 ? stamp : stream->first;
    stream->fresh &= item->class_id == TRACE_CLASS_CONTROL;
    if (event_begin(stream, type->id, stamp) != 0 ||
        context_put(export, trace, stream, item, step) != 0 ||
        standard_put(export, stream, role, item, step) != 0) {
        return -1;
    }
    for (unsigned i = 0; (value = kev_capture_value(export->capture, i)) != NULL; i++) {
        if (ctf_value_put(stream, value) != 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- losses ------------------------------------------------------------------------ */

/* A packet without events, with more discarded ones than the packet before it. */
static int ctf_loss_put(struct export *export, const struct kev_item *item, unsigned cpu)
{
    struct ctf_trace *trace = &ctf_of(export)->traces[KERNEL];
    struct ctf_stream *stream = &trace->streams[cpu];
    uint64_t stamp;

    if (!stream->fresh && ctf_packet_end(export, trace, cpu) != 0) {
        return -1;
    }
    /* The events that open the buffer after the loss come before those that report it. */
    stamp = stream->used > 0 ? stream->first : stamp_of(export, stream, item->cycles);
    if (!stream->any && packet_write(export, trace, cpu, stamp, stamp, NULL, 0) != 0) {
        return -1; /* readers count from packet to packet */
    }
    stream->discarded += item->loss->events;
    if (item->loss->kind == KEV_LOSS_MISSING) {
        stream->packets += item->loss->buffers;
    }
    return packet_write(export, trace, cpu, stamp, stamp, NULL, 0);
}

static int ctf_loss_take(struct export *export, const struct kev_item *item)
{
    struct ctf_trace *trace = &ctf_of(export)->traces[KERNEL];
    unsigned cpu = item->cpu < 0 || item->cpu >= FLOW_CPUS ? 0 : (unsigned)item->cpu;
    struct ctf_stream *stream = stream_open(export, trace, cpu);
    const struct type *type = types_find(&trace->types, export, item, TYPES_LOST);
    const struct kev_loss *loss = item->loss;
    struct kev_item nobody = {.pid = KEV_NOBODY, .tid = KEV_NOBODY};
    uint64_t stamp;

    if (stream == NULL || type == NULL || ctf_loss_put(export, item, cpu) != 0) {
        return -1;
    }
    stamp = stamp_of(export, stream, item->cycles);
    stream->first = stream->used == 0 ? stamp : stream->first;
    return event_begin(stream, type->id, stamp) |
           context_put(export, trace, stream, &nobody, NULL) |
           ctf_string_put(stream, export_loss_kind(loss->kind)) |
           ctf_string_put(stream, loss->class_name) | ctf_string_put(stream, loss->reason) |
           ctf_string_put(stream, loss->text) |
           ctf_number_put(stream, (uint64_t)loss->from_ns, 64) |
           ctf_number_put(stream, (uint64_t)loss->to_ns, 64) |
           ctf_number_put(stream, loss->events, 64) | ctf_number_put(stream, loss->buffers, 64);
}

/* ---- the format -------------------------------------------------------------------- */

static const struct flow_ops ctf_ops = {.span = NULL};

static int ctf_begin(struct export *export)
{
    struct ctf *ctf = calloc(1, sizeof(*ctf));

    export->state = ctf;
    if (ctf == NULL) {
        kymo_error("out of memory");
        return -1;
    }
    ctf->traces[KERNEL].domain = "kernel";
    ctf->traces[UST].domain = "ust";
    for (unsigned i = 0; i < 2; i++) {
        ctf->traces[i].types.most = CTF_TYPES;
        ctf->traces[i].types.declare = ctf_declare;
    }
    ctf->flow = export_flow_new(export, &ctf_ops);
    return ctf->flow == NULL ? -1 : output_folder_open(&ctf->folder, export->path);
}

static int ctf_item(struct export *export, const struct kev_item *item)
{
    struct ctf *ctf = ctf_of(export);
    struct flow_step step;

    if (item->kind == KEV_ITEM_LOSS) {
        return ctf_loss_take(export, item);
    }
    if (item->kind == KEV_ITEM_SCOPE && ctf->nscopes < CTF_SCOPES && item->loss->text != NULL) {
        ctf->scopes[ctf->nscopes++] = kymo_memory(strdup(item->loss->text));
    }
    if (item->kind != KEV_ITEM_EVENT) {
        return 0;
    }
    if (export_flow_take(ctf->flow, item, &step) != 0) {
        return -1;
    }
    return ctf_event_put(export, item, &step, linux_event_of(item, &step));
}

static int metadata_put(struct export *export, const struct ctf_trace *trace)
{
    struct ctf *ctf = ctf_of(export);
    struct output output;
    char name[32], *path;
    FILE *file;
    int status = -1;

    snprintf(name, sizeof(name), "%s/metadata", trace->domain);
    path = output_folder_path(&ctf->folder, name);
    if (path != NULL && output_folder_note(&ctf->folder, path) == 0 &&
        output_open(&output, path, OUTPUT_NEW) == 0) {
        file = output_stream(&output);
        if (file == NULL) {
            output_abandon(&output);
        } else {
            ctf_metadata_write(trace, export, file, ctf->scopes, ctf->nscopes);
            status = output_commit(&output) == 0 ? 0 : -1; /* it says what has failed */
        }
    }
    free(path);
    return status;
}

static int ctf_end(struct export *export)
{
    struct ctf *ctf = ctf_of(export);

    for (unsigned i = 0; i < 2; i++) {
        struct ctf_trace *trace = &ctf->traces[i];

        if (i == KERNEL && !trace->used && stream_open(export, trace, 0) == NULL) {
            return -1; /* a capture without events is a trace without them */
        }
        for (unsigned cpu = 0; cpu < FLOW_CPUS; cpu++) {
            struct ctf_stream *stream = &trace->streams[cpu];

            if (!stream->open) {
                continue;
            }
            ctf_packet_end(export, trace, cpu);
            if (output_folder_note(&ctf->folder, stream->path) != 0) {
                return -1;
            }
            stream->open = false;
            if (output_commit(&stream->output) != 0) {
                return -1;
            }
        }
        if (trace->used && metadata_put(export, trace) != 0) {
            return -1;
        }
    }
    return output_folder_commit(&ctf->folder);
}

static void ctf_discard(struct export *export)
{
    struct ctf *ctf = ctf_of(export);

    if (ctf == NULL) {
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned cpu = 0; cpu < FLOW_CPUS; cpu++) {
            struct ctf_stream *stream = &ctf->traces[i].streams[cpu];

            if (stream->open) {
                if (stream->output.error != 0) {
                    output_commit(&stream->output); /* says what has failed */
                } else {
                    output_abandon(&stream->output);
                }
            }
            free(stream->bytes);
            free(stream->path);
        }
        types_free(&ctf->traces[i].types);
    }
    output_folder_abandon(&ctf->folder);
    while (ctf->nscopes > 0) {
        free(ctf->scopes[--ctf->nscopes]);
    }
    flow_free(ctf->flow);
    free(ctf);
}

const struct export_format export_ctf = {.name = "ctf",
                                         .folder = true,
                                         .begin = ctf_begin,
                                         .item = ctf_item,
                                         .end = ctf_end,
                                         .discard = ctf_discard};

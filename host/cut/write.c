/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing a cut. Buffers are filled with what is selected, up to the last slot, and numbered from
 * 1; a gap of the original is one here. Slots are held in this machine's byte order, the payload
 * too (its texts as well: as if the other machine had written them), and swapped on their way out.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/cut/cut.h"
#include "kernel/abi/sys/trace.h"
#include "lib/capture/attribute.h"

#define CONTROL(event) TRACE_HEADER(0, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, event)

static void put(struct cut_file *file, const void *bytes, size_t len)
{
    if (file->error == 0) {
        file->error = output_write(file->output, bytes, len);
    }
}

/* ---- the head ---- */

static void attribute(struct cut_file *file, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void attribute(struct cut_file *file, const char *key, const char *format, ...)
{
    char text[CAPTURE_ATTRIBUTE_ROOM];
    va_list list;

    va_start(list, format);
    put(file, text, (size_t)capture_attribute(text, key, format, list));
    va_end(list);
}

/* Options in as many attributes as they take. */
static void selection_attributes(struct cut_file *file, char *const *options)
{
    char line[CAPTURE_VALUE_MOST + 1] = "", key[32];
    unsigned n = 0;

    for (; *options != NULL; options++) {
        const char *word = *options;

        while (*word != '\0') {
            size_t used = strlen(line), len = strlen(word);
            size_t room = sizeof(line) - 1 - used - (used > 0);

            if (len > room && used > 0) {
                snprintf(key, sizeof(key), "CUT_SELECT_%u", ++n);
                attribute(file, key, "%s", line);
                line[0] = '\0';
                continue;
            }
            len = len < room ? len : room;
            snprintf(line + used, sizeof(line) - used, "%s%.*s", used > 0 ? " " : "", (int)len,
                     word);
            word += len;
        }
    }
    if (line[0] != '\0') {
        snprintf(key, sizeof(key), "CUT_SELECT_%u", ++n);
        attribute(file, key, "%s", line);
    }
}

static void cut_attributes(struct cut_file *file, const struct kev *kev,
                           const struct cut_origin *origin)
{
    const struct kymo_select *select = origin->select;
    const char *name = strrchr(origin->file, '/');
    char plain[CAPTURE_VALUE_MOST + 1];

    snprintf(plain, sizeof(plain), "%s", name == NULL ? origin->file : name + 1);
    for (char *at = plain; *at != '\0'; at++) {
        *at = *at >= ' ' && *at < 0x7f ? *at : '?';
    }
    attribute(file, "CUT_OF", "%s", plain);
    attribute(file, "CUT_START", "0x%016" PRIx64, kev_info(kev)->start);
    if (select->from.given) {
        attribute(file, "CUT_FROM", "0x%016" PRIx64, select->first);
    }
    if (select->to.given) {
        attribute(file, "CUT_TO", "0x%016" PRIx64, select->end);
    }
    selection_attributes(file, origin->options);
    /* Readers know what a gate means: what is not there may have happened. */
    if (select->owned || select->nevents > 0 || !select->classes.any) {
        attribute(file, "FILTER_CUT", "gate of kymo cut: see CUT_SELECT_1");
    }
}

int cut_head(struct cut_file *file, const struct kev *kev, const struct cut_origin *origin)
{
    const struct kev_info *info = kev_info(kev);
    uint32_t len;
    const uint8_t *page = kev_page(kev, &len);

    file->swapped = info->swapped;
    for (unsigned i = 0; i < info->nattrs; i++) {
        const char *key = info->attrs[i].key, *value = info->attrs[i].value;

        if (strcmp(key, "TRACELOGGER_ARGS") == 0) {
            cut_attributes(file, kev, origin);
        }
        put(file, "TRACE_", 6);
        if (strncmp(key, "CUT_", 4) == 0) { /* it was cut before */
            put(file, "CUT_BEFORE_", 11);
            key += 4;
        }
        put(file, key, strlen(key));
        put(file, "::", 2);
        value = strcmp(key, "VER_MINOR") == 0 ? "01" : value;
        put(file, value, strlen(value));
    }
    if (kev_attr(kev, "TRACELOGGER_ARGS") == NULL) {
        cut_attributes(file, kev, origin);
    }
    put(file, "TRACE_HEADER_END::", 18);
    put(file, page, len);
    return 0;
}

/* ---- buffers ---- */

static void buffer_write(struct cut_file *file, struct cut_buffer *buffer)
{
    struct trace_slot out[TRACE_BUFFER_SLOTS];

    if (buffer->slots == 0) {
        return;
    }
    buffer->slot[0].d2 = buffer->slots;
    memcpy(out, buffer->slot, buffer->slots * sizeof(*out));
    for (unsigned i = 0; file->swapped && i < buffer->slots; i++) {
        out[i].header = __builtin_bswap32(out[i].header);
        out[i].time = __builtin_bswap32(out[i].time);
        out[i].d1 = __builtin_bswap32(out[i].d1);
        out[i].d2 = __builtin_bswap32(out[i].d2);
    }
    put(file, out, buffer->slots * sizeof(*out));
    file->buffers++;
    buffer->slots = 0;
}

static void slot_add(struct cut_buffer *buffer, uint32_t header, uint64_t time, uint32_t d1,
                     uint32_t d2)
{
    buffer->slot[buffer->slots++] = (struct trace_slot){header, (uint32_t)time, d1, d2};
    buffer->time = time;
}

static void time_add(struct cut_buffer *buffer, uint32_t cpu_bits, uint64_t time)
{
    buffer->high = (uint32_t)(time >> 32);
    slot_add(buffer, CONTROL(TRACE_CONTROL_TIME) | cpu_bits, time, buffer->high, (uint32_t)time);
}

static struct cut_buffer *buffer_get(struct cut_file *file, unsigned cpu)
{
    if (file->cpu[cpu] == NULL) {
        file->cpu[cpu] = calloc(1, sizeof(*file->cpu[cpu]));
    }
    if (file->cpu[cpu] == NULL) {
        kymo_error("out of memory");
    }
    return file->cpu[cpu];
}

/* Makes room for n slots at a time: another buffer, or TIME. BUFFER and TIME share their stamp with
 * what follows. NULL: no memory. */
static struct cut_buffer *room_make(struct cut_file *file, unsigned cpu, unsigned n, uint64_t time)
{
    struct cut_buffer *buffer = buffer_get(file, cpu);
    uint32_t cpu_bits = (uint32_t)cpu << TRACE_CPU_SHIFT;

    if (buffer == NULL) {
        return NULL;
    }
    if (buffer->slots + n + 1 > TRACE_BUFFER_SLOTS) {
        buffer_write(file, buffer);
    }
    if (buffer->slots == 0) {
        slot_add(buffer, CONTROL(TRACE_CONTROL_BUFFER) | cpu_bits, time, ++buffer->sequence, 0);
        time_add(buffer, cpu_bits, time);
        buffer->headed = true;
    } else if ((uint32_t)(time >> 32) != buffer->high) {
        time_add(buffer, cpu_bits, time);
    }
    return buffer;
}

int cut_begin(struct cut_file *file, unsigned cpu, uint64_t time)
{
    if (file->cpu[cpu] != NULL) {
        buffer_write(file, file->cpu[cpu]);
    }
    return room_make(file, cpu, 0, time) == NULL ? -1 : 0;
}

static uint32_t event_header(const struct kev_event *event)
{
    return TRACE_HEADER(event->cpu, 0, event->class, event->number) |
           (event->injected ? _NTO_TRACE_PROCESS_INJECTED : 0);
}

/* A word as the writer of the capture had it. */
static uint32_t event_word(const struct cut_file *file, const struct kev_event *event, unsigned i)
{
    uint32_t word = i < event->nwords ? event->words[i] : 0;

    return event->swapped && file->swapped ? __builtin_bswap32(word) : word;
}

int cut_event(struct cut_file *file, const struct kev_event *event)
{
    unsigned n = event->combined ? (event->nwords + 1) / 2 : 1;
    struct cut_buffer *buffer = room_make(file, event->cpu, n, event->time);

    if (buffer == NULL) {
        return -1;
    }
    for (unsigned i = 0; i < n; i++) {
        uint32_t structure = !event->combined ? TRACE_STRUCT_S
                             : i == 0         ? TRACE_STRUCT_CB
                             : i + 1 == n     ? TRACE_STRUCT_CE
                                              : TRACE_STRUCT_CC;

        slot_add(buffer, event_header(event) | structure, event->time,
                 event_word(file, event, 2 * i), event_word(file, event, 2 * i + 1));
    }
    buffer->headed = false;
    file->events += !event->injected;
    return 0;
}

int cut_dropped(struct cut_file *file, const struct kev_event *event)
{
    struct cut_buffer *buffer = buffer_get(file, event->cpu);

    if (buffer == NULL) {
        return -1;
    }
    if (!buffer->headed) {
        buffer_write(file, buffer);
    }
    buffer = room_make(file, event->cpu, 1, event->time);
    if (buffer != NULL) {
        slot_add(buffer, event_header(event), event->time, kev_word(event, 0), kev_word(event, 1));
    }
    return buffer == NULL ? -1 : 0;
}

int cut_gap(struct cut_file *file, unsigned cpu, uint32_t buffers)
{
    struct cut_buffer *buffer = buffer_get(file, cpu);

    if (buffer == NULL) {
        return -1;
    }
    buffer_write(file, buffer);
    buffer->sequence += buffers;
    return 0;
}

void cut_flush(struct cut_file *file)
{
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        if (file->cpu[cpu] != NULL) {
            buffer_write(file, file->cpu[cpu]);
        }
    }
}

void cut_tail(struct cut_file *file, const struct kev_event *event)
{
    const struct cut_buffer *buffer = file->cpu[event->cpu];
    struct trace_slot slot = {event_header(event), (uint32_t)(buffer == NULL ? 0 : buffer->time),
                              kev_word(event, 0), kev_word(event, 1)};

    if (file->swapped) {
        slot.header = __builtin_bswap32(slot.header);
        slot.time = __builtin_bswap32(slot.time);
        slot.d1 = __builtin_bswap32(slot.d1);
        slot.d2 = __builtin_bswap32(slot.d2);
    }
    put(file, &slot, sizeof(slot));
}

void cut_free(struct cut_file *file)
{
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        free(file->cpu[cpu]);
    }
}

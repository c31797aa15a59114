/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing the slots of a cut, in format 1.02 whatever the original's is. Where a buffer of the
 * original begins, one of the cut does, so that a reader's account of what is covered is the same;
 * buffers get new numbers. Slots are held, and summed, in this machine's byte order, the payload
 * too (texts as well: as if the other machine had written them), and swapped on their way out.
 *
 * Captures of format 1.01 may have two events of a CPU with the same stamp: the later one's is
 * raised. A recovered one may have events that lie before their CPU's last one: they are left out
 * and counted. So whatever the reader gives, stamps rise.
 */
#include <stdlib.h>
#include <string.h>

#include "host/cut/cut.h"
#include "abi/sys/trace.h"
#include "lib/capture/losses.h"

#define CONTROL(event) TRACE_HEADER(0, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, event)
#define HEAD_SLOTS 2             /* BUFFER, TIME */
#define SEQUENCE_MOST (3u << 30) /* a gap that leads further is made smaller */

/* ---- bytes ------------------------------------------------------------------------- */

void cut_put(struct cut_file *file, const void *bytes, size_t len)
{
    if (file->error == 0) {
        file->error = output_write(file->output, bytes, len);
    }
}

/* A capture_put_t. A refusal is kept for output_commit(). */
int cut_put_slots(void *to, const void *slots, size_t bytes)
{
    struct cut_file *file = to;
    const uint32_t *words = slots;
    uint32_t swapped[1024];

    if (!file->swapped) {
        cut_put(file, slots, bytes);
        return 0;
    }
    for (size_t left = bytes / 4; left > 0;) {
        size_t n = left < 1024 ? left : 1024;

        for (size_t i = 0; i < n; i++) {
            swapped[i] = __builtin_bswap32(words[i]);
        }
        cut_put(file, swapped, 4 * n);
        words += n;
        left -= n;
    }
    return 0;
}

/* ---- buffers ----------------------------------------------------------------------- */

static void buffer_write(struct cut_file *file, struct cut_buffer *buffer)
{
    struct trace_slot trailer[CAPTURE_TRAILER_SLOTS];

    if (buffer->slots == 0) {
        return;
    }
    buffer->slot[0].d2 = buffer->slots;
    capture_check_add(&file->check, buffer->slot, buffer->slots);
    capture_check_close(&file->check, TRACE_GET_CPU(buffer->slot[0].header), trailer);
    cut_put_slots(file, buffer->slot, buffer->slots * sizeof(*buffer->slot));
    cut_put_slots(file, trailer, sizeof(trailer));
    buffer->slots = 0;
}

static void slot_add(struct cut_buffer *buffer, uint32_t header, uint64_t time, uint32_t d1,
                     uint32_t d2)
{
    buffer->slot[buffer->slots++] = (struct trace_slot){header, (uint32_t)time, d1, d2};
    buffer->time = time;
}

static void cut_write_add_time(struct cut_buffer *buffer, uint32_t cpu_bits, uint64_t time)
{
    buffer->high = (uint32_t)(time >> 32);
    slot_add(buffer, CONTROL(TRACE_CONTROL_TIME) | cpu_bits, time, buffer->high, (uint32_t)time);
}

static struct cut_buffer *buffer_get(struct cut_file *file, unsigned cpu)
{
    if (file->cpu[cpu] == NULL) {
        file->cpu[cpu] =
            calloc(1, sizeof(*file->cpu[cpu]) + file->limit * sizeof(struct trace_slot));
    }
    if (file->cpu[cpu] == NULL) {
        kymo_error("out of memory");
    }
    return file->cpu[cpu];
}

/* A reader finds so many events that account for what is owed (host/reader/index_gaps.c). */
static void owed_settle(struct cut_buffer *buffer, uint64_t events)
{
    buffer->accounted += events;
    if (buffer->accounted >= buffer->owed) {
        uint64_t left = buffer->accounted - buffer->owed;

        buffer->owed = buffer->accounted = 0;
        buffer->ahead = left < buffer->outside ? left : buffer->outside;
    }
}

/* A gap shows in the sequence from here on, and is owed an account. */
static void gap_begin(struct cut_buffer *buffer)
{
    uint32_t room = buffer->sequence < SEQUENCE_MOST ? SEQUENCE_MOST - buffer->sequence : 1;
    uint32_t gap = buffer->gap < room ? (uint32_t)buffer->gap : room;

    buffer->sequence += gap;
    buffer->owed += buffer->begun ? gap : 0; /* before the first one a reader sees none */
    buffer->gap = buffer->told = buffer->outside = 0;
    owed_settle(buffer, buffer->ahead);
}

static void buffer_begin(struct cut_buffer *buffer, unsigned cpu, uint64_t time)
{
    uint32_t cpu_bits = (uint32_t)cpu << TRACE_CPU_SHIFT;

    if (buffer->gap > 0) {
        gap_begin(buffer);
    }
    buffer->ahead = buffer->outside = 0;
    time = time > buffer->time ? time : buffer->time;
    slot_add(buffer, CONTROL(TRACE_CONTROL_BUFFER) | cpu_bits, time, ++buffer->sequence, 0);
    cut_write_add_time(buffer, cpu_bits, time);
    buffer->headed = buffer->begun = true;
}

/* Makes room for n slots at a time: another buffer, or TIME, which shares its stamp with what
 * follows. There is room: n + HEAD_SLOTS is at most the limit. */
static void cut_write_make_room(struct cut_file *file, struct cut_buffer *buffer, unsigned cpu,
                                unsigned n, uint64_t time)
{
    if (buffer->slots + n + 1 > file->limit) {
        buffer_write(file, buffer);
    }
    if (buffer->slots == 0) {
        buffer_begin(buffer, cpu, time);
    } else if ((uint32_t)(time >> 32) != buffer->high) {
        cut_write_add_time(buffer, (uint32_t)cpu << TRACE_CPU_SHIFT, time);
        buffer->headed = false;
    }
}

int cut_begin(struct cut_file *file, unsigned cpu, uint64_t time)
{
    struct cut_buffer *buffer = buffer_get(file, cpu);

    if (buffer == NULL) {
        return -1;
    }
    buffer_write(file, buffer);
    buffer_begin(buffer, cpu, time);
    return 0;
}

int cut_gap(struct cut_file *file, unsigned cpu, uint32_t buffers)
{
    struct cut_buffer *buffer = buffer_get(file, cpu);

    if (buffer == NULL) {
        return -1;
    }
    buffer_write(file, buffer);
    buffer->gap += buffers;
    return 0;
}

int cut_start(struct cut_file *file, unsigned cpu, uint32_t sequence)
{
    struct cut_buffer *buffer = buffer_get(file, cpu);

    if (buffer == NULL) {
        return -1;
    }
    if (!buffer->begun) {
        buffer->sequence = (sequence < SEQUENCE_MOST ? sequence : SEQUENCE_MOST) - 1;
    }
    return 0;
}

/* DROPPED where a reader looks for an account of gaps: it takes one that comes after the gap, or,
 * of lost events and outside of buffers, right before it. */
static void gap_account(struct cut_buffer *buffer, uint32_t reason_class, uint64_t events,
                        bool outside)
{
    uint32_t reason = reason_class >> 8;
    bool lost = reason == KYMO_DROP_OVERWRITTEN || reason == KYMO_DROP_UNWRITTEN;

    if (!lost && reason != KYMO_DROP_RECYCLED) {
        return;
    }
    buffer->outside += lost && outside ? events : 0;
    if (buffer->owed > 0) {
        owed_settle(buffer, events);
    } else if (lost && outside) {
        buffer->ahead += events;
    } else {
        buffer->told += buffer->gap > 0 ? events : 0;
    }
}

uint64_t cut_unaccounted(const struct cut_file *file, unsigned cpu)
{
    const struct cut_buffer *buffer = file->cpu[cpu];
    uint64_t told = buffer == NULL ? 0 : buffer->told + buffer->ahead;

    return buffer == NULL
               ? 0
               : buffer->owed - buffer->accounted + (buffer->gap > told ? buffer->gap - told : 0);
}

/* ---- events ------------------------------------------------------------------------ */

static uint32_t event_header(const struct kev_event *event)
{
    return TRACE_HEADER(event->cpu, 0, event->class, event->number) |
           (event->injected ? _NTO_TRACE_PROCESS_INJECTED : 0) |
           (event->dumped ? TRACE_STATE_DUMP : 0);
}

/* A word as the writer of the capture had it. */
static uint32_t event_word(const struct cut_file *file, const struct kev_event *event, unsigned i)
{
    uint32_t word = i < event->nwords ? event->words[i] : 0;

    return event->swapped && file->swapped ? __builtin_bswap32(word) : word;
}

/* The stamp of the next event of a CPU; false: it can't be after the last one. */
static bool stamp_take(struct cut_buffer *buffer, uint64_t time, uint64_t *stamp)
{
    *stamp = time;
    if (buffer->stamped) {
        if (time < buffer->original || buffer->stamp == UINT64_MAX) {
            return false;
        }
        *stamp = time > buffer->stamp ? time : buffer->stamp + 1;
    }
    *stamp = *stamp > buffer->time ? *stamp : buffer->time;
    buffer->stamped = true;
    buffer->stamp = *stamp;
    buffer->original = time;
    return true;
}

static void cut_write_add_event(struct cut_file *file, struct cut_buffer *buffer,
                                const struct kev_event *event, unsigned n, uint64_t stamp)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t structure = !event->combined ? TRACE_STRUCT_S
                             : i == 0         ? TRACE_STRUCT_CB
                             : i + 1 == n     ? TRACE_STRUCT_CE
                                              : TRACE_STRUCT_CC;

        slot_add(buffer, event_header(event) | structure, stamp, event_word(file, event, 2 * i),
                 event_word(file, event, 2 * i + 1));
    }
}

enum cut_result cut_event(struct cut_file *file, const struct kev_event *event)
{
    unsigned n = event->combined ? (event->nwords + 1) / 2 : 1;
    struct cut_buffer *buffer = buffer_get(file, event->cpu);
    uint64_t stamp;

    if (buffer == NULL) {
        return CUT_NO_MEMORY;
    }
    if (n + HEAD_SLOTS > file->limit || !stamp_take(buffer, event->time, &stamp)) {
        return CUT_LEFT_OUT;
    }
    cut_write_make_room(file, buffer, event->cpu, n, stamp);
    cut_write_add_event(file, buffer, event, n, stamp);
    buffer->headed = false;
    file->events += !event->injected;
    return CUT_TAKEN;
}

enum cut_result cut_dropped(struct cut_file *file, const struct kev_event *event)
{
    struct cut_buffer *buffer = buffer_get(file, event->cpu);
    bool headed;
    uint64_t stamp;

    if (buffer == NULL) {
        return CUT_NO_MEMORY;
    }
    if (HEAD_SLOTS + 1 > file->limit || !stamp_take(buffer, event->time, &stamp)) {
        return CUT_LEFT_OUT;
    }
    headed = buffer->slots > 0 && buffer->headed && (uint32_t)(stamp >> 32) == buffer->high;
    if (!headed) {
        buffer_write(file, buffer);
    }
    cut_write_make_room(file, buffer, event->cpu, 1, stamp);
    cut_write_add_event(file, buffer, event, 1, stamp);
    gap_account(buffer, kev_word(event, 0), kev_word(event, 1), false);
    return CUT_TAKEN;
}

/* ---- the end ----------------------------------------------------------------------- */

void cut_flush(struct cut_file *file)
{
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        if (file->cpu[cpu] != NULL) {
            buffer_write(file, file->cpu[cpu]);
        }
    }
}

void cut_tail(struct cut_file *file, unsigned cpu, uint32_t reason_class, uint64_t events)
{
    if (file->cpu[cpu] != NULL) {
        buffer_write(file, file->cpu[cpu]);
        gap_account(file->cpu[cpu], reason_class, events, true);
    }
    capture_losses_slots(&file->check, cpu, reason_class, events, cut_put_slots, file);
    capture_losses_close(&file->check, cpu, cut_put_slots, file);
}

void cut_end(struct cut_file *file, unsigned cpus)
{
    cut_flush(file);
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        capture_losses_end(&file->check, cpu, NULL, cut_put_slots, file);
    }
}

void cut_free(struct cut_file *file)
{
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        free(file->cpu[cpu]);
    }
}

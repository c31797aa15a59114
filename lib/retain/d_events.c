/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contents of D's retained consumers, as the events that a consumer with log=1 leaves in a capture
 * (trace/dtrace/log_event.h): notes, a status, each CPU's records, the aggregations' entries, and
 * the ends of all these. One pass; it is not marked as the last, because the program did not end.
 * In whole buffers after the CPU's last one.
 */
#include <string.h>

#include "lib/retain/d.h"
#include "lib/retain/made.h"

enum stage { BEGIN, NOTES, STATUS, RECORDS, TAKEN, ENTRIES, COUNTED };
enum { PASS = 1 };
/* From trace/dtrace/log_event.h, which the tracelogger does not include. */
enum { EVENT_RECORD = 2, EVENT_TAKEN, EVENT_ENTRY, EVENT_ENTRIES, EVENT_STATUS };
enum { STATUS_BYTES = 104, SNAP_BYTES = 40 };

/* ---- one event --------------------------------------------------------------------- */

/* Makes an event pending, with these words and `bytes` bytes. Returns false if it is too long. */
static bool retain_event_make_pending(struct retain *retain, uint32_t event, uint32_t nwords,
                                      uint32_t bytes)
{
    struct retain_d *d = &retain->d;

    if (nwords * 4 + bytes > (retain->buffer_slots - 2) * 8) {
        return false;
    }
    d->event = event;
    d->nwords = nwords;
    d->bytes = bytes;
    memset(d->words, 0, sizeof(d->words));
    d->words[0] = d->is.id;
    d->words[1] = PASS;
    return true;
}

static bool retain_event_next_note(struct retain *retain)
{
    struct retain_d *d = &retain->d;
    uint32_t left = d->is.notes_bytes - d->note_done;
    uint32_t n = left < KYMO_RETAIN_NOTES_PART ? left : KYMO_RETAIN_NOTES_PART;

    if (retain->cpu != 0 || n == 0) {
        return false;
    }
    retain_event_make_pending(retain, KYMO_RETAIN_NOTES_EVENT, 3, n);
    d->words[1] = d->is.notes_bytes;
    d->words[2] = d->note_done;
    d->note_done += n;
    return retain_chunk_read(retain, &d->data, d->is.notes + d->words[2], &d->words[3], n) == 0;
}

/* Records too long for an event become missing numbers. */
static bool retain_event_next_record(struct retain *retain)
{
    struct retain_d *d = &retain->d;
    uint32_t at, size;

    while ((size = retain_d_record(retain, &at)) != 0) {
        uint32_t number = d->number++;
        if (retain_event_make_pending(retain, EVENT_RECORD, 2, size) &&
            retain_chunk_read(retain, &d->data, at, &d->words[2], size) == 0) {
            d->words[1] = number;
            retain->records++;
            return true;
        }
    }
    return false;
}

static bool retain_event_next_taken(struct retain *retain)
{
    struct retain_d *d = &retain->d;
    /* struct dtrace_snap: size, oldest, drops, errors, taken */
    uint64_t snap[5] = {0, 0, retain_d_counter(retain, d->is.at.drops),
                        retain_d_counter(retain, d->is.at.errors), 1};

    retain_event_make_pending(retain, EVENT_TAKEN, 4, SNAP_BYTES);
    d->words[2] = d->number;
    memcpy(&d->words[4], snap, sizeof(snap));
    return true;
}

static bool retain_event_next_entry(struct retain *retain)
{
    struct retain_d *d = &retain->d;
    uint32_t at, size;
    bool undo;

    while ((size = retain_d_entry(retain, &at, &undo)) != 0) {
        uint32_t number = d->number++;
        if (retain_event_make_pending(retain, EVENT_ENTRY, 4, size) &&
            retain_chunk_read(retain, &d->data, at, &d->words[4], size) == 0) {
            d->words[2] = retain->cpu;
            d->words[3] = number;
            retain->keys++;
            if (undo) {
                memcpy((uint8_t *)&d->words[4] + d->live.undo_first * 8, d->live.undo,
                       d->live.undo_count * 8);
            }
            return true;
        }
    }
    return false;
}

static bool retain_event_next_counted(struct retain *retain)
{
    struct retain_d *d = &retain->d;
    uint64_t drops = retain_d_counter(retain, d->is.at.entry_drops);

    retain_event_make_pending(retain, EVENT_ENTRIES, 6, 0);
    d->words[2] = retain->cpu;
    d->words[3] = d->number;
    d->words[4] = (uint32_t)drops;
    d->words[5] = (uint32_t)(drops >> 32);
    return true;
}

/* ---- all of them ------------------------------------------------------------------- */

static void next_stage(struct retain *retain, enum stage stage, bool skip)
{
    retain->d.stage = skip ? stage + 1 : stage;
}

/* Advances to the next consumer that has data of this CPU. Returns false if there is none. */
static bool next_consumer(struct retain *retain)
{
    struct retain_d *d = &retain->d;

    for (; d->index < KYMO_RETAIN_D_MOST; d->index++) {
        if (retain_d_open(retain) && retain->cpu < d->is.ncpu) {
            d->note_done = 0;
            retain->programs += retain->cpu == 0;
            d->stage = NOTES;
            return true;
        }
    }
    return false;
}

/* Makes the next event pending in d. Returns false if there is none of this CPU. */
static bool next_event(struct retain *retain)
{
    struct retain_d *d = &retain->d;

    for (;;) {
        switch (d->stage) {
        case BEGIN:
            if (!next_consumer(retain)) {
                return false;
            }
            break;
        case NOTES:
            if (retain_event_next_note(retain)) {
                return true;
            }
            d->stage = STATUS;
            break;
        case STATUS:
            next_stage(retain, RECORDS, !retain_d_records(retain));
            if (retain->cpu == 0) {
                return retain_event_make_pending(retain, EVENT_STATUS, 4, STATUS_BYTES);
            }
            break;
        case RECORDS:
            if (retain_event_next_record(retain)) {
                return true;
            }
            d->stage = TAKEN;
            break;
        case TAKEN:
            retain_event_next_taken(retain);
            next_stage(retain, ENTRIES, !retain_d_entries(retain));
            return true;
        case ENTRIES:
            if (retain_event_next_entry(retain)) {
                return true;
            }
            d->stage = COUNTED;
            break;
        default:
            retain_event_next_counted(retain);
            d->stage = BEGIN;
            d->index++;
            return true;
        }
    }
}

uint32_t retain_d_buffer(struct retain *retain, uint32_t sequence, uint64_t *time)
{
    struct retain_d *d = &retain->d;
    uint64_t stamp = retain_stamp_behind(0, *time, retain->buffer_slots);
    uint32_t count = 2;

    if (stamp > UINT64_MAX / 2 || (d->event == 0 && !next_event(retain))) {
        return 0;
    }
    retain_put_head(retain, sequence, stamp);
    *time = stamp + 1;
    do {
        uint32_t bytes = d->nwords * 4 + d->bytes;
        if (count + (bytes + 7) / 8 > retain->buffer_slots) {
            break; /* stays pending for the next buffer */
        }
        ++*time;
        count +=
            retain_put(&retain->slots[count], TRACE_HEADER(retain->cpu, 0, TRACE_CLASS_D, d->event),
                       (uint32_t)*time, d->words, bytes);
        d->event = 0;
    } while (next_event(retain));
    retain->slots[0].d2 = count;
    return count;
}

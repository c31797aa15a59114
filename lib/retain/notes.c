/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of D's records (abi/retain.h, struct kymo_retain_note), as the events that the
 * kernel logs when a ring is stopped: whole buffers behind the last one of the first CPU that has
 * any. Only notes with a right CRC are used; the others are counted.
 */
#include <string.h>

#include "lib/retain/internal.h"

#define HEAD ((uint32_t)sizeof(struct kymo_retain_note))
#define WORDS 3 /* of the event: handle, bytes of all, where these begin */
#define EVENT_SLOTS ((WORDS * 4 + KYMO_RETAIN_NOTES_PART + 7) / 8)
/* The stamps of a buffer have one high word. */
#define STAMPS (TRACE_BUFFER_SLOTS / EVENT_SLOTS + 2)

/* Reads the head at `at`; false: there is no more, or it is damaged. */
static bool read_head(struct retain *retain, uint32_t at, struct kymo_retain_note *note)
{
    size_t from = offsetof(struct kymo_retain_note, boots);

    if (at > KYMO_RETAIN_NOTES_BYTES - HEAD ||
        retain->read(retain->arg, KYMO_RETAIN_NOTES + at, note, HEAD) != 0 ||
        note->magic != KYMO_RETAIN_MAGIC || note->boots != retain->header.boots ||
        note->crc != retain_crc((const uint8_t *)note + from, HEAD - from)) {
        return false;
    }
    return (note->bytes == 0 || note->bytes == note->total) &&
           note->total <= KYMO_RETAIN_NOTES_MOST &&
           note->bytes <= KYMO_RETAIN_NOTES_BYTES - HEAD - at;
}

static uint32_t behind(uint32_t at, const struct kymo_retain_note *note)
{
    return at + HEAD + ((note->bytes + 7) & ~7u);
}

/* Reads through retain->slots, in pieces. */
static bool data_good(struct retain *retain)
{
    uint32_t from = KYMO_RETAIN_NOTES + retain->note_at + HEAD, crc = 0;

    for (uint32_t done = 0; done < retain->note.bytes;) {
        uint32_t left = retain->note.bytes - done;
        uint32_t n = left < TRACE_BUFFER_BYTES ? left : TRACE_BUFFER_BYTES;

        if (retain->read(retain->arg, from + done, retain->slots, n) != 0) {
            return false;
        }
        crc = retain_crc_more(crc, retain->slots, n);
        done += n;
    }
    return retain->note.bytes != 0 && crc == retain->note.data_crc;
}

/* Advances to the next good one. Returns false if there is none. */
static bool next_note(struct retain *retain)
{
    while (read_head(retain, retain->note_at, &retain->note)) {
        if (data_good(retain)) {
            return true;
        }
        retain->losses.notes++;
        retain->note_at = behind(retain->note_at, &retain->note);
    }
    /* A kernel ends them with a magic of 0. */
    retain->losses.notes +=
        retain->note_at <= KYMO_RETAIN_NOTES_BYTES - HEAD && retain->note.magic != 0;
    retain->note.bytes = 0;
    retain->note_at = KYMO_RETAIN_NOTES_BYTES;
    return false;
}

/* Writes one event with the next part of them; returns its slots, 0: unreadable. */
static uint32_t put_part(struct retain *retain, struct trace_slot *slot, uint32_t time)
{
    const struct kymo_retain_note *note = &retain->note;
    uint32_t words[EVENT_SLOTS * 2] = {note->id, note->total, retain->note_done};
    uint32_t left = note->bytes - retain->note_done;
    uint32_t n = left < KYMO_RETAIN_NOTES_PART ? left : KYMO_RETAIN_NOTES_PART;

    if (retain->read(retain->arg, KYMO_RETAIN_NOTES + retain->note_at + HEAD + retain->note_done,
                     &words[WORDS], n) != 0) {
        return 0;
    }
    retain->note_done += n;
    return retain_put_event(slot, retain->cpu, time, KYMO_RETAIN_NOTES_EVENT, words, WORDS * 4 + n);
}

/* Writes as many parts as fit; unreadable ones are given up. */
static uint32_t put_parts(struct retain *retain, uint32_t time, uint64_t *last)
{
    uint32_t count = 2;

    while (retain->note_done < retain->note.bytes && count + EVENT_SLOTS <= TRACE_BUFFER_SLOTS) {
        uint32_t n = put_part(retain, &retain->slots[count], time++);

        if (n == 0) {
            retain->losses.notes++;
            retain->note_done = retain->note.bytes;
        }
        *last += n != 0;
        count += n;
    }
    return count;
}

uint32_t retain_notes_buffer(struct retain *retain, uint32_t sequence, uint64_t *time)
{
    uint64_t stamp = retain_stamp_behind(0, *time, STAMPS);
    uint32_t low = (uint32_t)stamp, cpu = retain->cpu;

    if (retain->note.bytes != 0 && retain->note_done == retain->note.bytes) {
        retain->note_at = behind(retain->note_at, &retain->note);
        retain->note.bytes = retain->note_done = 0;
    }
    if (stamp > UINT64_MAX / 2 || (retain->note_done == 0 && !next_note(retain))) {
        return 0;
    }
    struct trace_slot *slots = retain->slots;
    slots[0] = (struct trace_slot){RETAIN_CONTROL(cpu, TRACE_CONTROL_BUFFER), low, sequence, 0};
    slots[1] = (struct trace_slot){RETAIN_CONTROL(cpu, TRACE_CONTROL_TIME), low + 1,
                                   (uint32_t)(stamp >> 32), low + 1};
    *time = stamp + 1;
    slots[0].d2 = put_parts(retain, low + 2, time);
    return slots[0].d2;
}

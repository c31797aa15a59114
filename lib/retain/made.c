/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers that the reader makes of retained data other than the ring. No kernel made their events:
 * _NTO_TRACE_PROCESS_INJECTED in the headers of names and of the panic marks this. Only entries
 * with a right CRC are used; the others are counted.
 *
 * Names of processes and threads (abi/retain.h, struct kymo_retain_name) are the events of a state
 * dump: a process's name and text address, a thread's name. In whole buffers before all others.
 *
 * Descriptions of D's records (struct kymo_retain_note) are the events that the kernel logs when a
 * ring is stopped: whole buffers after the last one of the first CPU that has any.
 *
 * The crash is a separate buffer with SYSTEM/SLOG, of severity 0.
 */
#include <string.h>

#include "lib/retain/made.h"
#include "lib/retain/sum.h"

/* ---- slots ------------------------------------------------------------------------- */

uint32_t retain_put(struct trace_slot *slot, uint32_t what, uint32_t time, const uint32_t *words,
                    uint32_t bytes)
{
    uint32_t count = (bytes + 7) / 8;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t structure = i == 0 ? TRACE_STRUCT_CB : TRACE_STRUCT_CC;

        structure = i + 1 == count ? TRACE_STRUCT_CE : structure;
        slot[i] = (struct trace_slot){what | structure, time, words[2 * i], words[2 * i + 1]};
    }
    return count;
}

void retain_put_head(struct retain *retain, uint32_t sequence, uint64_t stamp)
{
    uint32_t low = (uint32_t)stamp, cpu = retain->cpu;

    retain->slots[0] =
        (struct trace_slot){RETAIN_CONTROL(cpu, TRACE_CONTROL_BUFFER), low, sequence, 0};
    retain->slots[1] = (struct trace_slot){RETAIN_CONTROL(cpu, TRACE_CONTROL_TIME), low + 1,
                                           (uint32_t)(stamp >> 32), low + 1};
}

uint64_t retain_stamp_behind(uint64_t time, uint64_t last, uint32_t count)
{
    time = time > last ? time : last + 1;
    return (uint32_t)time > UINT32_MAX - count ? (time | UINT32_MAX) + 1 : time;
}

/* ---- names ------------------------------------------------------------------------- */

/* trace/events.def: numbers of PR_TH and SYSTEM. */
#define PROCCREATE_NAME 192 /* ppid, pid, name */
#define PROCTHREAD_NAME 320 /* pid, tid, name */
#define MAPNAME 8           /* pid, text, its size, name */

#define NAME_WORDS (5 + KYMO_RETAIN_NAME_MAX / 4)
#define NAME_SLOTS ((NAME_WORDS + 1) / 2)

static bool retain_made_name_is_good(const struct retain *retain, struct kymo_retain_name *name)
{
    size_t from = offsetof(struct kymo_retain_name, boots);

    name->name[sizeof(name->name) - 1] = '\0';
    return name->crc == retain_crc((const uint8_t *)name + from, sizeof(*name) - from) &&
           name->boots == retain->header.boots;
}

static uint32_t names_most(const struct retain *retain)
{
    return retain->header.areas.names.bytes / (uint32_t)sizeof(struct kymo_retain_name);
}

/* Reads entry i, if it exists and was still alive when the window begins. */
static bool retain_made_read_entry(struct retain *retain, uint32_t i, struct kymo_retain_name *name)
{
    const struct kymo_retain_area *names = &retain->header.areas.names;

    if (!retain_area_read(retain, names, i * (uint32_t)sizeof(*name), name, sizeof(*name))) {
        retain->losses.names++;
        return false;
    }
    if (name->magic == 0) {
        return false; /* free, or being written */
    }
    if (!retain_made_name_is_good(retain, name)) {
        retain->losses.names++;
        return false;
    }
    return name->ended == 0 || name->ended > retain->first_time;
}

/* Writes an event of n words followed by a text; returns its slots. */
static uint32_t put_name_event(struct trace_slot *slot, uint32_t what, uint32_t time, uint32_t n,
                               const uint32_t *words, const char *text)
{
    uint32_t all[NAME_SLOTS * 2] = {0};

    memcpy(all, words, n * sizeof(*words));
    memcpy(&all[n], text, strlen(text));
    return retain_put(slot, what | _NTO_TRACE_PROCESS_INJECTED, time, all,
                      n * (uint32_t)sizeof(*words) + (uint32_t)strlen(text) + 1);
}

static uint32_t put_mapname(struct trace_slot *slot, uint32_t cpu, uint32_t time,
                            const struct kymo_retain_name *name)
{
    uint32_t what = TRACE_HEADER(cpu, 0, TRACE_CLASS_SYSTEM, MAPNAME);
    uint32_t pid = (uint32_t)name->pid, low = (uint32_t)name->text,
             size = (uint32_t)name->text_size;

    if (name->text > UINT32_MAX || name->text_size > UINT32_MAX) {
        const uint32_t words[] = {pid, low, (uint32_t)(name->text >> 32), size,
                                  (uint32_t)(name->text_size >> 32)};
        return put_name_event(slot, what | TRACE_EVENT_64, time, 5, words, name->name);
    }
    return put_name_event(slot, what, time, 3, (const uint32_t[]){pid, low, size}, name->name);
}

/* Writes the events of an entry: *time is the next stamp. */
static uint32_t put_entry(struct trace_slot *slot, uint32_t cpu, uint32_t *time,
                          const struct kymo_retain_name *name)
{
    uint32_t pid = (uint32_t)name->pid, tid = (uint32_t)name->tid;

    if (tid != 0) {
        uint32_t what = TRACE_HEADER(cpu, 0, TRACE_CLASS_PR_TH, PROCTHREAD_NAME);

        return name->name[0] == '\0' ? 0
                                     : put_name_event(slot, what, (*time)++, 2,
                                                      (const uint32_t[]){pid, tid}, name->name);
    }
    uint32_t what = TRACE_HEADER(cpu, 0, TRACE_CLASS_PR_TH, PROCCREATE_NAME);
    uint32_t n = put_name_event(slot, what, (*time)++, 2,
                                (const uint32_t[]){(uint32_t)name->ppid, pid}, name->name);

    return name->text_size == 0 ? n : n + put_mapname(slot + n, cpu, (*time)++, name);
}

uint32_t retain_names_buffer(struct retain *retain)
{
    uint64_t stamp = retain->names_time;
    uint32_t count = 2, time = (uint32_t)stamp + 2;

    for (; retain->name_at < names_most(retain); retain->name_at++) {
        struct trace_slot made[2 * NAME_SLOTS];
        struct kymo_retain_name name;
        uint32_t next = time, n = 0;

        if (retain_made_read_entry(retain, retain->name_at, &name)) {
            n = put_entry(made, retain->cpu, &next, &name);
        }
        if (count + n > retain->buffer_slots) {
            break; /* stays for the next buffer */
        }
        memcpy(&retain->slots[count], made, n * sizeof(*made));
        count += n;
        time = next;
    }
    if (count == 2) {
        return 0;
    }
    retain_put_head(retain, retain->names_sequence++, stamp);
    retain->slots[0].d2 = count;
    retain->names_time = stamp + (time - (uint32_t)stamp);
    return count;
}

uint32_t retain_names_plan(struct retain *retain)
{
    uint32_t buffers = 0;
    uint64_t stamps, first = retain->first_time;

    retain->name_at = 0;
    retain->names_time = 0;
    while (retain_names_buffer(retain) != 0) {
        buffers++;
    }
    retain->name_at = 0;
    stamps = retain->names_time;
    if (first < 2 * stamps) {
        return 0;
    }
    /* Their stamps have one high word. */
    retain->names_time = (first - stamps) >> 32 == first >> 32
                             ? first - stamps
                             : (first & ~(uint64_t)UINT32_MAX) - stamps;
    return buffers;
}

void retain_names_lost(struct retain *retain)
{
    struct kymo_retain_name name;

    for (; retain->name_at < names_most(retain); retain->name_at++) {
        retain->losses.names += retain_made_read_entry(retain, retain->name_at, &name);
    }
}

/* ---- notes of D's consumers -------------------------------------------------------- */

#define NOTE_HEAD ((uint32_t)sizeof(struct kymo_retain_note))
#define NOTE_WORDS 3 /* of the event: handle, bytes of all, where these begin */
#define NOTE_SLOTS ((NOTE_WORDS * 4 + KYMO_RETAIN_NOTES_PART + 7) / 8)
/* The stamps of a buffer have one high word. */
#define NOTES_STAMPS (RETAIN_SLOTS_MOST / NOTE_SLOTS + 2)

/* Reads the head at `at`; false: there is no more, or it is damaged. */
static bool retain_made_read_head(struct retain *retain, uint32_t at, struct kymo_retain_note *note)
{
    size_t from = offsetof(struct kymo_retain_note, boots);

    if (!retain_area_read(retain, &retain->header.areas.notes, at, note, NOTE_HEAD) ||
        note->magic != KYMO_RETAIN_MAGIC || note->boots != retain->header.boots ||
        note->crc != retain_crc((const uint8_t *)note + from, NOTE_HEAD - from)) {
        return false;
    }
    return (note->bytes == 0 || note->bytes == note->total) &&
           note->total <= KYMO_RETAIN_NOTES_MOST &&
           note->bytes <= retain->header.areas.notes.bytes - NOTE_HEAD - at;
}

static uint32_t retain_made_end_of_note(uint32_t at, const struct kymo_retain_note *note)
{
    return at + NOTE_HEAD + ((note->bytes + 7) & ~7u);
}

/* Reads through retain->slots, in pieces. */
static bool data_good(struct retain *retain)
{
    uint32_t from = retain->note_at + NOTE_HEAD, crc = 0;

    for (uint32_t done = 0; done < retain->note.bytes;) {
        uint32_t left = retain->note.bytes - done;
        uint32_t n = left < sizeof(retain->slots) ? left : sizeof(retain->slots);

        if (!retain_area_read(retain, &retain->header.areas.notes, from + done, retain->slots, n)) {
            return false;
        }
        crc = retain_crc_more(crc, retain->slots, n);
        done += n;
    }
    return retain->note.bytes != 0 && crc == retain->note.data_crc;
}

/* Advances to the next valid note. Returns false if there is none. */
static bool next_note(struct retain *retain)
{
    uint32_t most = retain->header.areas.notes.bytes;

    while (retain_made_read_head(retain, retain->note_at, &retain->note)) {
        if (data_good(retain)) {
            return true;
        }
        retain->losses.notes++;
        retain->note_at = retain_made_end_of_note(retain->note_at, &retain->note);
    }
    /* The last note of a kernel has a magic of 0. */
    retain->losses.notes += retain->note_at + NOTE_HEAD <= most && retain->note.magic != 0;
    retain->note.bytes = 0;
    retain->note_at = most;
    return false;
}

/* Writes one event with the next part of them; returns its slots, 0: unreadable. */
static uint32_t retain_made_put_part(struct retain *retain, struct trace_slot *slot, uint32_t time)
{
    const struct kymo_retain_note *note = &retain->note;
    uint32_t words[NOTE_SLOTS * 2] = {note->id, note->total, retain->note_done};
    uint32_t left = note->bytes - retain->note_done;
    uint32_t n = left < KYMO_RETAIN_NOTES_PART ? left : KYMO_RETAIN_NOTES_PART;

    if (!retain_area_read(retain, &retain->header.areas.notes,
                          retain->note_at + NOTE_HEAD + retain->note_done, &words[NOTE_WORDS], n)) {
        return 0;
    }
    retain->note_done += n;
    return retain_put(slot, TRACE_HEADER(retain->cpu, 0, TRACE_CLASS_D, KYMO_RETAIN_NOTES_EVENT),
                      time, words, NOTE_WORDS * 4 + n);
}

/* Writes as many parts as fit; unreadable ones are given up. */
static uint32_t put_parts(struct retain *retain, uint32_t time, uint64_t *last)
{
    uint32_t count = 2;

    while (retain->note_done < retain->note.bytes && count + NOTE_SLOTS <= retain->buffer_slots) {
        uint32_t n = retain_made_put_part(retain, &retain->slots[count], time++);

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
    uint64_t stamp = retain_stamp_behind(0, *time, NOTES_STAMPS);

    if (retain->note.bytes != 0 && retain->note_done == retain->note.bytes) {
        retain->note_at = retain_made_end_of_note(retain->note_at, &retain->note);
        retain->note.bytes = retain->note_done = 0;
    }
    if (stamp > UINT64_MAX / 2 || (retain->note_done == 0 && !next_note(retain))) {
        return 0;
    }
    retain_put_head(retain, sequence, stamp);
    *time = stamp + 1;
    retain->slots[0].d2 = put_parts(retain, (uint32_t)stamp + 2, time);
    return retain->slots[0].d2;
}

/* ---- the panic --------------------------------------------------------------------- */

#define SLOG 12 /* trace/events.def: opcode, severity, text */
#define SLOG_OPCODE 1
#define SLOG_SHUTDOWN 0
#define SLOG_MOST (TRACE_TEXT_BYTES - 1)

uint32_t retain_panic_buffer(struct retain *retain, uint32_t sequence, uint64_t *time)
{
    uint64_t stamp = retain_stamp_behind(retain->panic.time, *time, 3);
    uint32_t words[(2 * 4 + TRACE_TEXT_BYTES) / 4] = {SLOG_OPCODE, SLOG_SHUTDOWN};
    uint32_t what =
        TRACE_HEADER(retain->cpu, 0, TRACE_CLASS_SYSTEM, SLOG) | _NTO_TRACE_PROCESS_INJECTED;
    const char *text = retain->panic.reason;
    size_t length = strlen(text) < SLOG_MOST ? strlen(text) : SLOG_MOST;

    if (stamp > UINT64_MAX / 2) {
        return 0; /* an impossible time is not used */
    }
    retain_put_head(retain, sequence, stamp);
    memcpy(&words[2], text, length);
    retain->slots[0].d2 = 2 + retain_put(&retain->slots[2], what, (uint32_t)stamp + 2, words,
                                         (uint32_t)(8 + length + 1));
    *time = stamp + 2;
    return retain->slots[0].d2;
}

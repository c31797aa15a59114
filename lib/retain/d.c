/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's own buffers in a window of retained memory: finds the consumers, and their complete records.
 * A record counts if its mark is right; the newest, without marks yet, count if they are no more
 * than one probe firing makes, and end at the cursor. After damage the next record with its mark
 * is searched. Entries of aggregations: d_entries.c. Tested by
 * test/trace/dtrace/fire/retain_test.c.
 */
#include <string.h>

#include "abi/retain_mark.h"
#include "lib/retain/d.h"
#include "lib/retain/sum.h"

/* After damage each word may begin a record of any size in the tables, which may be damaged too.
 * Once failed checksums cover this many times what can be read of the window, the rest of each
 * buffer counts as damaged. */
#define WASTE_MOST 16

/* ---- reading ----------------------------------------------------------------------- */

static int retain_d_load_chunk(struct retain *retain, struct retain_chunk *chunk, uint32_t offset)
{
    uint64_t left = retain->header.window - offset;

    chunk->at = offset;
    chunk->bytes = left < sizeof(chunk->data) ? (uint32_t)left : (uint32_t)sizeof(chunk->data);
    if (retain->read(retain->arg, offset, chunk->data, chunk->bytes) != 0) {
        chunk->bytes = 0;
        return -1;
    }
    return 0;
}

int retain_chunk_read(struct retain *retain, struct retain_chunk *chunk, uint32_t offset, void *to,
                      uint32_t bytes)
{
    uint8_t *out = to;

    if (offset > retain->header.window || bytes > retain->header.window - offset) {
        return -1;
    }
    while (bytes > 0) {
        if ((offset < chunk->at || offset - chunk->at >= chunk->bytes) &&
            retain_d_load_chunk(retain, chunk, offset) != 0) {
            return -1;
        }
        uint32_t left = chunk->at + chunk->bytes - offset, n = bytes < left ? bytes : left;
        memcpy(out, chunk->data + (offset - chunk->at), n);
        out += n;
        offset += n;
        bytes -= n;
    }
    return 0;
}

bool retain_is_hopeless(const struct retain *retain)
{
    return retain->wasted / WASTE_MOST >= retain->readable;
}

/* Returns whether the bytes are there and have this sum. */
static bool retain_d_has_sum(struct retain *retain, struct retain_chunk *chunk, uint32_t at,
                             uint32_t bytes, uint32_t sum)
{
    uint8_t piece[128];
    uint32_t crc = 0;

    while (bytes > 0) {
        uint32_t n = bytes < sizeof(piece) ? bytes : (uint32_t)sizeof(piece);
        if (retain_chunk_read(retain, chunk, at, piece, n) != 0) {
            return false;
        }
        crc = retain_crc_more(crc, piece, n);
        at += n;
        bytes -= n;
    }
    return crc == sum;
}

/* ---- who is there ------------------------------------------------------------------ */

static bool retain_d_is_inside(const struct retain *retain, uint64_t offset, uint64_t bytes)
{
    return offset >= retain->header.areas.free && bytes <= retain->header.window &&
           offset <= retain->header.window - bytes;
}

/* Checks one CPU's part; a missing part has offset 0. */
static bool cpu_fits(const struct retain *retain, const struct kymo_retain_d *is, uint32_t cpu)
{
    const struct kymo_retain_d_cpu *c = &is->cpu[cpu];
    uint64_t record_marks = ((uint64_t)is->record_bytes / is->record_least + 1) * 4;
    uint64_t entry_marks = ((uint64_t)is->entry_bytes * 2 / is->entry_least + 1) * 4;

    return (c->live == 0 ||
            (retain_d_is_inside(retain, c->live, sizeof(struct kymo_retain_d_live)) &&
             retain_d_is_inside(retain, c->cursors, 8))) &&
           (c->records == 0 || (retain_d_is_inside(retain, c->records, is->record_bytes) &&
                                retain_d_is_inside(retain, c->record_marks, record_marks))) &&
           (c->entries == 0 ||
            (retain_d_is_inside(retain, c->entries, 2 * (uint64_t)is->entry_bytes) &&
             retain_d_is_inside(retain, c->entry_marks, entry_marks)));
}

static bool retain_d_layout_fits(const struct retain *retain, const struct kymo_retain_d *is)
{
    uint64_t sizes = (uint64_t)is->records + is->aggregations;

    if (is->ncpu > RETAIN_CPUS_MOST || is->record_least < RETAIN_D_LEAST ||
        is->entry_least < RETAIN_D_ENTRY || sizes > UINT16_MAX * 16u ||
        (sizes && !retain_d_is_inside(retain, is->tables, sizes * 4)) ||
        is->notes_bytes > KYMO_RETAIN_NOTES_MOST ||
        (is->notes_bytes && !retain_d_is_inside(retain, is->notes, is->notes_bytes))) {
        return false;
    }
    for (uint32_t cpu = 0; cpu < is->ncpu; cpu++) {
        if (!cpu_fits(retain, is, cpu)) {
            return false;
        }
    }
    return true;
}

/* Counts a lost program once: at CPU 0. */
static void lose_program(struct retain *retain)
{
    retain->losses.programs += retain->cpu == 0;
}

bool retain_d_open(struct retain *retain)
{
    struct kymo_retain_d *is = &retain->d.is;
    uint32_t from = (uint32_t)offsetof(struct kymo_retain_d, boots);
    uint32_t at = retain->d.index * (uint32_t)sizeof(*is);

    if (!retain_area_read(retain, &retain->header.areas.d, at, is, sizeof(*is)) || is->magic == 0) {
        return false;
    }
    /* A free entry is 0 there: any other value is a program, and damaged unless it is its
     * number. */
    if (is->crc != retain_crc((uint8_t *)is + from, sizeof(*is) - from)) {
        lose_program(retain);
        return false;
    }
    if (is->boots != retain->header.boots) {
        return false;
    }
    if (!retain_d_layout_fits(retain, is) ||
        !retain_d_has_sum(retain, &retain->d.tables, is->tables,
                          (is->records + is->aggregations) * 4, is->tables_crc)) {
        lose_program(retain);
        return false;
    }
    if (is->notes_bytes &&
        !retain_d_has_sum(retain, &retain->d.data, is->notes, is->notes_bytes, is->notes_crc)) {
        is->notes_bytes = 0;
    }
    retain->losses.notes += is->notes_bytes == 0 && retain->cpu == 0;
    return true;
}

/* ---- this CPU's -------------------------------------------------------------------- */

static uint64_t retain_d_load_word(struct retain *retain, uint32_t field, uint32_t bytes)
{
    const struct kymo_retain_d_cpu *cpu = &retain->d.is.cpu[retain->cpu];
    uint64_t value = 0, offset = (uint64_t)cpu->cursors + field;

    if (cpu->cursors == 0) {
        return 0; /* not traced */
    }
    if (!retain_d_is_inside(retain, offset, bytes) ||
        retain->read(retain->arg, (uint32_t)offset, &value, bytes) != 0) {
        return UINT64_MAX;
    }
    return value;
}

uint64_t retain_d_counter(struct retain *retain, uint32_t field)
{
    return retain_d_load_word(retain, field, 8);
}

/* Returns a word written by the kernel: an offset in a buffer. */
static uint64_t retain_d_load_cursor(struct retain *retain, uint32_t field)
{
    return retain_d_load_word(retain, field, retain->header.word_bits / 8);
}

static bool read_live(struct retain *retain)
{
    const struct kymo_retain_d_cpu *cpu = &retain->d.is.cpu[retain->cpu];

    return cpu->live &&
           retain->read(retain->arg, cpu->live, &retain->d.live, sizeof(retain->d.live)) == 0;
}

/* ---- records ----------------------------------------------------------------------- */

static uint32_t retain_d_record_size(struct retain *retain, uint32_t epid)
{
    uint32_t size = 0;

    if (epid == 0 || epid > retain->d.is.records ||
        retain_chunk_read(retain, &retain->d.tables, retain->d.is.tables + (epid - 1) * 4, &size,
                          sizeof(size)) != 0) {
        return 0;
    }
    return size;
}

/* Returns the largest number of bytes that one probe firing writes, one record of each kind: these
 * may lack their marks. */
static uint64_t firing_most(struct retain *retain)
{
    uint64_t sum = 0;

    for (uint32_t epid = 1; epid <= retain->d.is.records; epid++) {
        sum += retain_d_record_size(retain, epid) + 4; /* and a gap */
    }
    return sum;
}

/* Returns whether records from here on end exactly at the cursor. */
static bool retain_d_records_reach(struct retain *retain, uint32_t from, uint32_t until)
{
    uint32_t base = retain->d.is.cpu[retain->cpu].records, epid, size;

    while (from < until) {
        if (until - from < sizeof(epid) ||
            retain_chunk_read(retain, &retain->d.data, base + from, &epid, sizeof(epid)) != 0) {
            return false;
        }
        size = epid ? retain_d_record_size(retain, epid) : (uint32_t)sizeof(epid);
        if (size == 0 || size > until - from) {
            return false;
        }
        from += size;
    }
    return true;
}

/* Copies of trace/dtrace/buffer.c's cursors: [oldest, end) if it has wrapped, then [0, offset). */
struct cursors {
    uint32_t offset, oldest, end;
    bool wrapped;
};

/* Returns whether the range between the mark's location and the cursor fits one unfinished probe
 * context. The mark ahead of the cursor is from the previous lap. */
static bool is_under_way(struct retain *retain, const struct cursors *c, uint32_t sealed)
{
    uint64_t most = firing_most(retain);

    if (sealed <= c->offset) {
        return c->offset - sealed <= most && retain_d_records_reach(retain, sealed, c->offset);
    }
    uint32_t from = sealed > c->oldest ? sealed : c->oldest;
    return c->wrapped && from <= c->end && (uint64_t)c->end - from + c->offset <= most &&
           retain_d_records_reach(retain, from, c->end) &&
           retain_d_records_reach(retain, 0, c->offset);
}

/* Damaged cursors must not make old bytes the newest records, which have no mark to check. */
static void set_regions(struct retain *retain, struct cursors *c)
{
    struct retain_d *d = &retain->d;
    uint32_t sealed = d->live.sealed;
    bool known = d->live.unsealed == ~sealed, lap = sealed > c->offset;

    c->wrapped = c->end != 0 && c->offset <= c->oldest && c->oldest < c->end;
    bool may_lack = known && is_under_way(retain, c, sealed);
    if (known && !may_lack) {
        retain->losses.records++;
        d->number = 1;
        c->offset = lap && sealed <= d->is.record_bytes ? sealed : c->offset;
    }
    d->at = c->wrapped ? c->oldest : 0;
    d->until = c->wrapped ? c->end : c->offset;
    d->next_until = c->wrapped ? c->offset : 0;
    d->next_tail = !may_lack ? UINT32_MAX : lap ? 0 : sealed;
    d->tail = c->wrapped && may_lack ? lap ? sealed : c->end : d->next_tail;
    d->time = 0;
    d->damaged = false;
}

bool retain_d_records(struct retain *retain)
{
    struct retain_d *d = &retain->d;
    const struct kymo_retain_d_fields *at = &d->is.at;
    uint64_t most = d->is.record_bytes;

    d->number = 0;
    if (d->is.cpu[retain->cpu].records == 0) {
        return false;
    }
    uint64_t offset = retain_d_load_cursor(retain, at->offset),
             oldest = retain_d_load_cursor(retain, at->oldest);
    uint64_t end = retain_d_load_cursor(retain, at->end);
    if (!read_live(retain) || offset > most || oldest > most || end > most) {
        retain->losses.records++;
        d->number = 1;
        return false;
    }
    struct cursors c = {(uint32_t)offset, (uint32_t)oldest, (uint32_t)end, false};
    set_regions(retain, &c);
    return true;
}

static uint32_t retain_d_load_mark(struct retain *retain, uint32_t offset, uint32_t place,
                                   uint32_t size)
{
    uint8_t piece[128];
    uint32_t sum = 0;

    for (uint32_t done = 0; done < size;) {
        uint32_t n = size - done < sizeof(piece) ? size - done : (uint32_t)sizeof(piece);
        if (retain_chunk_read(retain, &retain->d.data, offset + done, piece, n) != 0) {
            return 0;
        }
        sum += retain_mark(place, done / 8, piece, n);
        done += n;
    }
    return sum;
}

static bool retain_d_has_mark(struct retain *retain, uint32_t place, uint32_t size)
{
    const struct kymo_retain_d *is = &retain->d.is;
    const struct kymo_retain_d_cpu *cpu = &is->cpu[retain->cpu];
    uint32_t at = cpu->record_marks + place / is->record_least * 4, mark;

    bool good = retain_chunk_read(retain, &retain->d.marks, at, &mark, sizeof(mark)) == 0 &&
                mark == retain_d_load_mark(retain, cpu->records + place, place, size);

    retain->wasted += good ? 0 : size;
    return good;
}

/* Skips one word of damaged data; a contiguous range counts as one lost record, the known
 * minimum. */
static void pass_over(struct retain *retain)
{
    struct retain_d *d = &retain->d;

    if (!d->damaged) {
        retain->losses.records++;
        d->number++;
    }
    d->damaged = true;
    /* Records without marks can't be found again after damage. */
    d->at = d->at >= d->tail || retain_is_hopeless(retain) ? d->until : d->at + 4;
}

/* struct dtrace_record: EPID, then the time, high word first. Time never decreases. */
static uint64_t retain_d_record_time(struct retain *retain)
{
    const struct retain_d *d = &retain->d;
    uint32_t at = d->is.cpu[retain->cpu].records + d->at, time[2] = {0, 0};

    retain_chunk_read(retain, &retain->d.data, at + 4, time, sizeof(time));
    return (uint64_t)time[0] << 32 | time[1];
}

/* Returns the size of the record at d->at; 0: no complete one. */
static uint32_t retain_d_look_record(struct retain *retain, uint32_t epid)
{
    struct retain_d *d = &retain->d;
    uint32_t size = retain_d_record_size(retain, epid);

    if (size < RETAIN_D_LEAST || size > d->until - d->at) {
        return 0;
    }
    uint64_t time = retain_d_record_time(retain);
    bool may_lack = d->at >= d->tail && !d->damaged;
    if (time < d->time || !(may_lack || retain_d_has_mark(retain, d->at, size))) {
        return 0;
    }
    d->time = time;
    return size;
}

static bool next_region(struct retain_d *d)
{
    if (d->next_until == 0) {
        return false;
    }
    d->at = 0;
    d->until = d->next_until;
    d->tail = d->next_tail;
    d->next_until = 0;
    return true;
}

uint32_t retain_d_record(struct retain *retain, uint32_t *at)
{
    struct retain_d *d = &retain->d;
    uint32_t base = d->is.cpu[retain->cpu].records, epid, size;

    do {
        while (d->until - d->at >= sizeof(epid)) {
            if (retain_chunk_read(retain, &d->data, base + d->at, &epid, sizeof(epid)) != 0) {
                return 0;
            }
            if (epid == 0) {
                d->at += 4;
                continue;
            }
            size = retain_d_look_record(retain, epid);
            if (size) {
                *at = base + d->at;
                d->at += size;
                d->damaged = false;
                return size;
            }
            pass_over(retain);
        }
    } while (next_region(d));
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* See scan.h. */
#include "host/extract/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/link/crc32c.h"

#define CHUNK 128u /* sectors read at once */
/* Size of a frame of the presented disk: one sector for the header. */
#define FRAME (1 + BLOCKLOG_DATA_SECTORS)

struct record {
    uint64_t sequence, id, sector, oldest;
    uint32_t pieces;
    int layout; /* header_sectors; 0: it has no data that would say */
};

struct search {
    const struct blocklog_disk *disk;
    struct record *record;
    size_t count, room;
    struct blocklog_super super; /* the newest log's, wherever it was; frames 0: none */
    uint64_t end;                /* after the last sector that could be read */
};

static uint32_t extract_scan_header_crc(const void *data, size_t bytes)
{
    return ~crc32c_add(CRC32C_START, data, bytes);
}

/* Returns after how many sectors the first piece's data begins: where its CRC is right. */
static int layout_of(const struct blocklog_disk *disk, uint64_t sector,
                     const struct blocklog_header *header)
{
    static uint8_t data[BLOCKLOG_DATA_BYTES];
    uint32_t bytes = header->pieces ? header->piece[0].bytes : header->bytes;
    uint32_t wanted = header->pieces ? header->piece[0].crc : header->data_crc;
    uint32_t sectors = (bytes + BLOCKLOG_SECTOR - 1) / BLOCKLOG_SECTOR;

    for (int layout = 1; bytes > 0 && layout <= 8; layout += 7) {
        if (sector + (uint64_t)layout + sectors <= disk->sectors &&
            disk->read(disk->context, sector + (uint64_t)layout, data, sectors) == 0 &&
            extract_scan_header_crc(data, bytes) == wanted) {
            return layout;
        }
    }
    return 0;
}

static int extract_scan_add_capture(struct search *search, uint64_t sector,
                                    const struct blocklog_header *header)
{
    if (search->count == search->room) {
        size_t room = search->room ? 2 * search->room : 1024;
        struct record *more = realloc(search->record, room * sizeof(*more));

        if (!more) {
            return -ENOMEM;
        }
        search->record = more;
        search->room = room;
    }
    search->record[search->count++] =
        (struct record){.sequence = header->sequence,
                        .id = header->id,
                        .sector = sector,
                        .oldest = header->oldest,
                        .pieces = blocklog_frames_of(header),
                        .layout = layout_of(search->disk, sector, header)};
    return 0;
}

static int look_at(struct search *search, uint64_t sector, const void *data)
{
    const struct blocklog_header *header = data;
    const struct blocklog_super *super = data;

    if (blocklog_super_is_sound(super) && super->id >= search->super.id) {
        search->super = *super;
    }
    return blocklog_header_is_sound(header) ? extract_scan_add_capture(search, sector, header) : 0;
}

/* Sector by sector where several at once can't be read. */
static int look_through(struct search *search, struct blocklog *log)
{
    static _Alignas(8) uint8_t data[CHUNK][BLOCKLOG_SECTOR];
    const struct blocklog_disk *disk = search->disk;
    int result = 0;

    for (uint64_t at = blocklog_readable_from(disk, 0); at < disk->sectors && result == 0;
         at = blocklog_readable_from(disk, at + CHUNK)) {
        uint32_t count = disk->sectors - at < CHUNK ? (uint32_t)(disk->sectors - at) : CHUNK;
        bool all = disk->read(disk->context, at, data, count) == 0;

        for (uint32_t i = 0; i < count && result == 0; i++) {
            if (all || disk->read(disk->context, at + i, data[i], 1) == 0) {
                result = look_at(search, at + i, data[i]);
                search->end = at + i + 1;
            }
        }
        if (log->progress) {
            log->progress(log->progress_what, at, disk->sectors);
        }
    }
    return result;
}

static int by_sequence(const void *a, const void *b)
{
    const struct record *one = a, *other = b;

    return one->sequence != other->sequence ? (one->sequence < other->sequence ? -1 : 1)
                                            : (one->sector < other->sector ? -1 : 1);
}

/* By the log, then by the number. */
static int by_log(const void *a, const void *b)
{
    const struct record *one = a, *other = b;

    return one->id != other->id ? (one->id < other->id ? -1 : 1) : by_sequence(a, b);
}

/* Which logs there are: ids of one disk's logs ascend. The records are sorted by log. */
static int list_logs(const struct search *search, struct extract_scan *scan)
{
    scan->log = calloc(search->count ? search->count : 1, sizeof(*scan->log));
    if (!scan->log) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < search->count; i++) {
        if (i == 0 || search->record[i].id != search->record[i - 1].id) {
            scan->log[scan->logs++].id = search->record[i].id;
        }
        scan->log[scan->logs - 1].records++;
    }
    return 0;
}

/* Only the records of one log, which are a part of all. */
static void keep_log(struct search *search, struct extract_scan *scan, size_t number)
{
    size_t before = 0;

    scan->shown = number;
    for (size_t i = 0; i + 1 < number; i++) {
        before += scan->log[i].records;
    }
    search->count = scan->records = scan->log[number - 1].records;
    memmove(search->record, search->record + before, search->count * sizeof(*search->record));
    search->super.id = search->super.id == scan->log[number - 1].id ? search->super.id : 0;
}

static uint32_t layout_of_all(const struct search *search)
{
    if (search->super.id) {
        return search->super.header_sectors;
    }
    for (size_t i = 0; i < search->count; i++) {
        if (search->record[i].layout) {
            return (uint32_t)search->record[i].layout;
        }
    }
    return 1;
}

/* Frames of the log, as far as the records say: record n is in frame n % frames. 0: not known. */
static uint64_t frames_of(const struct search *search, uint64_t stride)
{
    uint64_t common = 0, most = 0;

    if (search->super.id) {
        return search->super.frames;
    }
    for (size_t i = 0; i < search->count; i++) {
        const struct record *record = &search->record[i];
        uint64_t first = record->sector % stride == BLOCKLOG_FIRST_OLD % stride ? BLOCKLOG_FIRST_OLD
                                                                                : BLOCKLOG_FIRST;
        uint64_t frame = (record->sector - first) / stride;

        if (record->sector < first || (record->sector - first) % stride != 0 ||
            record->sequence < frame) {
            return 0; /* it was moved */
        }
        most = frame > most ? frame : most;
        for (uint64_t a = record->sequence - frame, rest; a != 0; a = rest) {
            rest = common % a;
            common = a;
        }
    }
    uint64_t whole = search->disk->sectors / stride, first = most + 1;

    /* A disk that is all here has as many as fit; else the fewest that the records allow. */
    for (uint64_t frames = whole; frames >= first && frames + 2 > whole && common; frames--) {
        if (common % frames == 0) {
            return frames;
        }
    }
    uint64_t limit = first + search->end / stride;

    limit = (limit < whole ? limit : whole) + BLOCKLOG_TOGETHER;
    for (uint64_t frames = first; frames <= common && frames <= limit; frames++) {
        if (common % frames == 0) {
            return frames;
        }
    }
    return common > most ? common : 0;
}

/* ---- the disk that is shown -------------------------------------------------------- */

/* Returns the index of the first used frame that is not before this one. */
static size_t frame_index(const struct extract_scan *scan, uint64_t frame)
{
    size_t low = 0, high = scan->used;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (scan->frame[middle].frame < frame) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static const struct extract_scan_frame *used_frame(const struct extract_scan *scan, uint64_t frame)
{
    size_t i = frame_index(scan, frame);

    return i < scan->used && scan->frame[i].frame == frame ? &scan->frame[i] : NULL;
}

static int show_sector(const struct extract_scan *scan, uint64_t sector, void *data)
{
    uint64_t in = sector - BLOCKLOG_FIRST, at = in % FRAME;
    const struct extract_scan_frame *frame =
        sector < BLOCKLOG_FIRST ? NULL : used_frame(scan, in / FRAME);

    if (at == 0 && (!frame || !frame->is_header)) {
        memset(data, 0, BLOCKLOG_SECTOR); /* it has no record */
        return 0;
    }
    if (!frame) {
        return -EIO;
    }
    uint64_t real = frame->sector + (at == 0 ? 0 : scan->header_sectors + at - 1);

    return real < scan->disk->sectors ? scan->disk->read(scan->disk->context, real, data, 1) : -EIO;
}

/* The frames between those that are used have no record, however many the log claims. */
static uint64_t extract_scan_show_next(void *context, uint64_t sector)
{
    const struct extract_scan *scan = context;
    uint64_t frame = sector < BLOCKLOG_FIRST ? 0 : (sector - BLOCKLOG_FIRST) / FRAME;
    size_t i = frame_index(scan, frame);

    if (i == scan->used) {
        return UINT64_MAX;
    }
    return scan->frame[i].frame == frame ? sector : BLOCKLOG_FIRST + scan->frame[i].frame * FRAME;
}

static int extract_scan_show_progress(void *context, uint64_t sector, void *data, uint32_t sectors)
{
    int result = 0;

    for (uint32_t i = 0; i < sectors && result == 0; i++) {
        result = show_sector(context, sector + i, (uint8_t *)data + (size_t)i * BLOCKLOG_SECTOR);
    }
    return result;
}

static int by_frame(const void *a, const void *b)
{
    const struct extract_scan_frame *one = a, *other = b;

    return one->frame != other->frame ? (one->frame < other->frame ? -1 : 1)
                                      : (one->order < other->order ? -1 : 1);
}

/* A frame that several records claim: of headers the first one counts, against a piece of another
 * record the later one. */
static void extract_scan_merge_frames(struct extract_scan *scan)
{
    size_t used = 0;

    if (scan->used > 0) {
        qsort(scan->frame, scan->used, sizeof(*scan->frame), by_frame);
    }
    for (size_t i = 0; i < scan->used; i++) {
        struct extract_scan_frame *last = used > 0 ? &scan->frame[used - 1] : NULL;

        if (!last || last->frame != scan->frame[i].frame) {
            scan->frame[used++] = scan->frame[i];
        } else if (!scan->frame[i].is_header || !last->is_header) {
            *last = scan->frame[i];
        }
    }
    scan->used = used;
}

static int extract_scan_place_captures(struct extract_scan *scan, const struct search *search,
                                       const struct blocklog *log)
{
    uint64_t stride = scan->header_sectors + BLOCKLOG_DATA_SECTORS;
    uint64_t laps = frames_of(search, stride);
    size_t most = 0;

    for (size_t i = 0; i < search->count; i++) {
        most += search->record[i].pieces;
    }
    scan->frame = malloc(most * sizeof(*scan->frame));
    if (!scan->frame) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < search->count; i++) {
        const struct record *record = &search->record[i];

        for (uint32_t piece = 0; piece < record->pieces && record->sequence >= log->oldest;
             piece++) {
            uint64_t at = record->sector + piece * stride;

            if (laps && record->sequence % laps + piece >= laps) {
                at -= laps * stride; /* the log continues in its first frame */
            }
            scan->frame[scan->used] =
                (struct extract_scan_frame){.frame = (record->sequence + piece) % scan->frames,
                                            .sector = at,
                                            .order = scan->used,
                                            .is_header = piece == 0};
            scan->used++;
        }
    }
    extract_scan_merge_frames(scan);
    return 0;
}

static int show_log(struct extract_scan *scan, const struct search *search, struct blocklog *log)
{
    const struct record *newest = &search->record[search->count - 1];
    uint64_t most = scan->disk->sectors / FRAME + BLOCKLOG_TOGETHER;

    scan->header_sectors = layout_of_all(search);
    scan->frames = search->super.id && search->super.frames > most ? search->super.frames : most;
    log->next = newest->sequence + newest->pieces;
    log->oldest = newest->oldest;
    if (log->next - log->oldest > scan->frames) {
        log->oldest = log->next - scan->frames;
    }
    if (extract_scan_place_captures(scan, search, log) != 0) {
        return -ENOMEM;
    }
    scan->found = (struct blocklog_disk){.context = scan,
                                         .sectors = BLOCKLOG_DISK(scan->frames, 1),
                                         .physical_bytes = BLOCKLOG_SECTOR,
                                         .read = extract_scan_show_progress,
                                         .next = extract_scan_show_next};
    log->disk = &scan->found;
    log->super = (struct blocklog_super){.version = BLOCKLOG_VERSION,
                                         .header_sectors = 1,
                                         .frames = scan->frames,
                                         .id = newest->id,
                                         .sectors = scan->found.sectors};
    return 0;
}

int extract_scan(struct extract_scan *scan, struct blocklog *log, const struct blocklog_disk *disk,
                 size_t number)
{
    struct search search = {.disk = disk};

    *scan = (struct extract_scan){.disk = disk};
    int result = look_through(&search, log);

    if (result == 0) {
        if (search.count > 0) {
            qsort(search.record, search.count, sizeof(*search.record), by_log);
        }
        result = list_logs(&search, scan);
    }
    if (result == 0 && number > scan->logs) {
        result = -ENOENT;
    } else if (result == 0 && scan->logs == 0) {
        result = -EILSEQ;
    } else if (result == 0) {
        keep_log(&search, scan, number > 0 ? number : scan->logs);
        result = show_log(scan, &search, log);
    }
    free(search.record);
    return result;
}

void extract_scan_free(struct extract_scan *scan)
{
    free(scan->frame);
    free(scan->log);
    scan->frame = NULL;
    scan->log = NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* See captures.h. */
#include "host/extract/captures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/capture/check.h"

static struct extract_capture *capture_new(struct extract_list *list, uint64_t begin)
{
    struct extract_capture *more =
        realloc(list->capture, (list->count + 1) * sizeof(*list->capture));

    if (!more) {
        return NULL;
    }
    list->capture = more;
    struct extract_capture *capture = &more[list->count++];
    *capture = (struct extract_capture){.begin = begin};
    return capture;
}

/* The one that a record belongs to; if that had no beginning left, one without a name. */
static struct extract_capture *capture_of(struct extract_list *list,
                                          const struct blocklog_header *header)
{
    struct extract_capture *last = list->count > 0 ? &list->capture[list->count - 1] : NULL;

    if (!last || last->begin != header->begin) {
        last = capture_new(list, header->begin);
        if (last) {
            last->first = header->sequence;
        }
    }
    return last;
}

/* A record that was written twice, because its first frame's acknowledgement failed,
 * counts once. */
static bool extract_captures_is_new_record(const struct extract_capture *capture,
                                           const struct blocklog_header *header)
{
    return header->kind == BLOCKLOG_DATA && header->bytes > 0 && header->offset >= capture->size;
}

static bool is_checked(const struct blocklog_piece *piece)
{
    return (piece->flags & BLOCKLOG_CHECKED) != 0 && piece->bytes >= TRACE_SLOT_BYTES;
}

/* Returns the bytes of the trailers that belong after a record's buffers. */
static uint64_t trailer_bytes(const struct blocklog_header *header)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < header->pieces && i < BLOCKLOG_TOGETHER; i++) {
        bytes += is_checked(&header->piece[i]) ? CAPTURE_TRAILER_BYTES : 0;
    }
    return bytes;
}

static int extract_captures_add_record(struct extract_list *list,
                                       const struct blocklog_header *header)
{
    if (header->kind == BLOCKLOG_RECLAIM) {
        return 0;
    }
    struct extract_capture *capture = capture_of(list, header);
    if (!capture) {
        return -ENOMEM;
    }
    capture->after = header->sequence + blocklog_frames_of(header);
    capture->lost = header->lost;
    if (header->kind == BLOCKLOG_BEGIN) {
        capture->time = header->time;
        memcpy(capture->name, header->name, sizeof(capture->name));
    } else if (header->kind == BLOCKLOG_END) {
        capture->whole = true;
        capture->size = header->offset > capture->size ? header->offset : capture->size;
    } else if (extract_captures_is_new_record(capture, header)) {
        capture->bytes += header->bytes;
        capture->slots += header->slots;
        capture->trailers += trailer_bytes(header);
        capture->size = header->offset + header->bytes;
    }
    return 0;
}

int extract_list(struct blocklog *log, struct extract_list *list)
{
    struct blocklog_header header;
    uint64_t gap = 0;
    int result = 0;

    *list = (struct extract_list){0};
    for (uint64_t at = log->oldest, frames; at < log->next && result == 0; at += frames) {
        uint64_t there = blocklog_record_from(log, at);

        result = blocklog_header(log, at, &header);
        frames = result == 0 ? blocklog_frames_of(&header)
                             : (there < log->next ? there : log->next) - at;
        frames += frames == 0; /* its sector can be read, and has no such header */
        if (result == 0) {
            size_t before = list->count;

            result = extract_captures_add_record(list, &header);
            list->between = list->count > before && gap > list->between ? gap : list->between;
            gap = 0;
        } else if (result == -ENOENT || result == -EBADMSG || result == -EIO) {
            list->absent += result == -ENOENT ? frames : 0;
            list->damaged += result == -EBADMSG;
            list->unreadable += result == -EIO ? frames : 0;
            gap += frames; /* of a stretch that the disk does not have all are like the first */
            result = 0;
        }
    }
    return result;
}

void extract_list_free(struct extract_list *list)
{
    free(list->capture);
    list->capture = NULL;
    list->count = 0;
}

struct reading {
    struct blocklog *log;
    struct extract_capture *capture;
    int (*take)(void *context, const void *data, size_t bytes);
    void *context;
    uint64_t offset; /* after what was given or given up */
    uint64_t lost;   /* slots that the target had refused up to there: they have offsets, too */
    uint64_t place;  /* where the next byte stood in the file that the target would have written */
    uint32_t buffers[CAPTURE_CHECK_CPUS]; /* up to there */
};

static bool is_data_of(struct reading *reading, uint64_t at, struct blocklog_header *header)
{
    return blocklog_header(reading->log, at, header) == 0 &&
           header->begin == reading->capture->begin && header->kind == BLOCKLOG_DATA;
}

/* The piece of a record that begins at `offset` of the capture, if it is sound and as long. Reads
 * the data of no other. */
static bool piece_at(struct reading *reading, const struct blocklog_header *header, uint64_t offset,
                     uint32_t bytes, void *data)
{
    uint64_t at = header->offset;

    for (unsigned i = 0; i < blocklog_frames_of(header) && at <= offset; i++) {
        uint32_t there = header->pieces == 0 ? header->bytes : header->piece[i].bytes;

        if (at == offset && there == bytes &&
            blocklog_data(reading->log, header, i, data, &there) == 0) {
            return true;
        }
        at += there;
    }
    return false;
}

/* A damaged piece may be there once more, further on: its first acknowledgement failed. The search
 * ends at a later offset. extract_read() reads ascending offsets, so the searches for two records'
 * pieces have no header in common. */
static bool copy_of(struct reading *reading, uint64_t after, uint64_t offset, uint32_t bytes,
                    void *data)
{
    struct blocklog_header header;

    for (uint64_t at = blocklog_record_from(reading->log, after); at < reading->capture->after;
         at = blocklog_record_from(reading->log, at + 1)) {
        if (!is_data_of(reading, at, &header)) {
            continue;
        }
        if (header.offset > offset) {
            return false;
        }
        if (piece_at(reading, &header, offset, bytes, data)) {
            return true;
        }
    }
    return false;
}

/* Adds the trailer that the target would have written after this buffer to a file; the buffer
 * began there at `at` and the trailers before it. */
static int take_trailer(struct reading *reading, const uint8_t *data, uint32_t bytes,
                        struct capture_place place)
{
    struct trace_slot trailer[CAPTURE_TRAILER_SLOTS];

    capture_check_buffer((const void *)data, bytes / TRACE_SLOT_BYTES, place, trailer);
    return reading->take(reading->context, trailer, sizeof(trailer));
}

/* A piece of the capture begins at `at`, of so many bytes. Before it there may be some that no
 * record is left of, buffers most of them, and some that the target refused and does not count.
 * Returns the place of the buffer that the piece is. */
static struct capture_place piece_begin(struct reading *reading,
                                        const struct blocklog_header *header, unsigned i,
                                        uint64_t at, uint32_t bytes)
{
    const struct blocklog_piece *piece = &header->piece[i];
    uint64_t hole = at - reading->offset;
    uint64_t refused = (header->lost - reading->lost) * TRACE_SLOT_BYTES;
    uint64_t gone = header->lost >= reading->lost && hole > refused ? hole - refused : 0;
    uint32_t *buffers = &reading->buffers[piece->cpu % CAPTURE_CHECK_CPUS];

    reading->lost = header->lost > reading->lost ? header->lost : reading->lost;
    reading->place +=
        gone + (gone + BLOCKLOG_DATA_BYTES - 1) / BLOCKLOG_DATA_BYTES * CAPTURE_TRAILER_BYTES;
    struct capture_place place = {capture_place_at(reading->place), *buffers + 1};

    reading->offset = at + bytes;
    reading->place += bytes;
    if (is_checked(piece)) {
        ++*buffers;
        reading->place += CAPTURE_TRAILER_BYTES;
    }
    return place;
}

static int read_piece(struct reading *reading, const struct blocklog_header *header, unsigned i,
                      uint64_t *offset)
{
    static _Alignas(8) uint8_t data[BLOCKLOG_DATA_BYTES];
    uint32_t bytes;
    int result = blocklog_data(reading->log, header, i, data, &bytes);
    uint64_t at = *offset;

    *offset += bytes;
    if (at < reading->offset) {
        return 0; /* it was there before */
    }
    struct capture_place place = piece_begin(reading, header, i, at, bytes);
    if (result == -EBADMSG || result == -EIO) {
        uint64_t after = header->sequence + blocklog_frames_of(header);

        if (!copy_of(reading, after, at, bytes, data)) {
            reading->capture->damaged += bytes;
            return 0;
        }
        result = 0;
    }
    if (result == 0 && bytes > 0 && reading->take(reading->context, data, bytes) != 0) {
        return -1;
    }
    return result == 0 && is_checked(&header->piece[i]) ? take_trailer(reading, data, bytes, place)
                                                        : result;
}

int extract_read(struct blocklog *log, struct extract_capture *capture,
                 int (*take)(void *context, const void *data, size_t bytes), void *context)
{
    struct reading reading = {.log = log, .capture = capture, .take = take, .context = context};
    struct blocklog_header header;
    int result = 0;

    capture->damaged = 0;
    for (uint64_t at = blocklog_record_from(log, capture->first); at < capture->after;
         at = blocklog_record_from(log, at + 1)) {
        if (!is_data_of(&reading, at, &header) || header.offset < reading.offset) {
            continue;
        }
        uint64_t offset = header.offset;
        for (unsigned i = 0; i < blocklog_frames_of(&header) && result == 0; i++) {
            result = read_piece(&reading, &header, i, &offset);
        }
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

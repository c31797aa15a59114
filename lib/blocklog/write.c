/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a record: data, flush, header, flush; only then is it acknowledged. A failure is retried
 * from the first write that may be lost, then in the next frame.
 *
 * A RECLAIM record deletes everything before the next capture. A frame before that capture may be
 * reused only when the record is on the medium, so after a power cut the old captures are complete
 * or deleted, never partly overwritten.
 */
#include <errno.h>
#include <string.h>

#include "lib/blocklog/blocklog.h"
#include "lib/blocklog/sectors.h"

/* Records by which a bound is set ahead: the largest number of headers to read, and the interval of
 * updates. */
#define AHEAD_PART 64 /* of all frames */
#define AHEAD_LEAST 4u
#define AHEAD_MOST 256u

/* ---- the bound --------------------------------------------------------------------- */

/*
 * The bound (layout.h) saves open.c from reading all headers. It is advanced every so many records,
 * by a separate write and flush, before the first record that needs it. If neither location can be
 * written, the record isn't written either: a record that could not be found is not acknowledged.
 */
static int bound_write_one(struct blocklog *log, unsigned i, uint64_t bound)
{
    struct blocklog_bound *at = (struct blocklog_bound *)(void *)log->bounce;
    const struct blocklog_disk *disk = log->disk;

    memset(at, 0, sizeof(*at));
    memcpy(at->magic, BLOCKLOG_BOUND_MAGIC, sizeof(at->magic));
    at->id = log->super.id;
    at->bound = bound;
    at->crc = blocklog_crc(at, sizeof(*at) - sizeof(at->crc));
    int result = disk->write(disk->context, blocklog_bound_sector(&log->super, i), at, 1);

    result = result == 0 ? disk->flush(disk->context) : result;
    log->bound[i] = result == 0 ? bound : log->bound[i];
    log->tries += result != 0;
    return result;
}

/* Makes sure that records before `after` may be written. Returns 0, or -EIO, -ENODEV: they may not.
 * Keeps the higher bound, unless the lower one's location is bad. */
static int bound_for(struct blocklog *log, uint64_t after)
{
    unsigned lower = log->bound[0] <= log->bound[1] ? 0 : 1;
    uint64_t part = log->super.frames / AHEAD_PART;
    uint64_t ahead = part < AHEAD_LEAST ? AHEAD_LEAST : part < AHEAD_MOST ? part : AHEAD_MOST;
    int result = -EIO;

    if (log->super.version < 3 || after <= log->bound[!lower]) {
        return 0;
    }
    for (unsigned i = 0; i < 2 * BLOCKLOG_TRIES && result != 0 && result != -ENODEV; i++) {
        result = bound_write_one(log, (lower + i) % 2, after + ahead);
    }
    if (result == 0 && log->bound[!lower] == 0) {
        bound_write_one(log, !lower, after + ahead); /* only speeds up the next search */
    }
    return result;
}

/* ---- one record -------------------------------------------------------------------- */

/* The rest of the last sector is zeros, so whole sectors are written from the caller's memory. */
static int blocklog_write_piece(struct blocklog *log, uint64_t sector, const uint8_t *data,
                                uint32_t bytes)
{
    const struct blocklog_disk *disk = log->disk;
    uint32_t whole = bytes / BLOCKLOG_SECTOR;
    uint32_t rest = bytes % BLOCKLOG_SECTOR;
    int result = 0;

    if (whole > 0) {
        result = disk->write(disk->context, sector, data, whole);
    }
    if (result == 0 && rest > 0) {
        memset(log->bounce, 0, sizeof(log->bounce));
        memcpy(log->bounce, data + (size_t)whole * BLOCKLOG_SECTOR, rest);
        result = disk->write(disk->context, sector + whole, log->bounce, 1);
    }
    return result;
}

static int write_data(struct blocklog *log, const struct blocklog_buffer *buffers, unsigned count)
{
    int result = 0;

    for (unsigned i = 0; i < count && result == 0; i++) {
        uint64_t sector = blocklog_frame_sector(&log->super, log->next + i);

        result = blocklog_write_piece(log, sector + log->super.header_sectors, buffers[i].data,
                                      buffers[i].bytes);
    }
    return result == 0 && count > 0 ? log->disk->flush(log->disk->context) : result;
}

static int write_header(struct blocklog *log)
{
    const struct blocklog_disk *disk = log->disk;
    int result =
        disk->write(disk->context, blocklog_frame_sector(&log->super, log->next), &log->header, 1);

    return result == 0 ? disk->flush(disk->context) : result;
}

/* Makes one try: the data is on the medium before the header can be. *begun: the header may be
 * there. */
static int write_once(struct blocklog *log, const struct blocklog_buffer *buffers, unsigned count,
                      bool *begun)
{
    int result = write_data(log, buffers, count);

    if (result == 0) {
        *begun = true;
        result = write_header(log);
    }
    log->tries += result != 0;
    return result;
}

static void seal_pieces(struct blocklog_header *header, const struct blocklog_buffer *buffers,
                        unsigned count)
{
    header->pieces = count;
    header->bytes = header->slots = 0;
    for (unsigned i = 0; i < count; i++) {
        header->piece[i] =
            (struct blocklog_piece){.crc = blocklog_crc(buffers[i].data, buffers[i].bytes),
                                    .bytes = (uint16_t)buffers[i].bytes,
                                    .slots = (uint16_t)buffers[i].slots,
                                    .cpu = buffers[i].cpu,
                                    .flags = buffers[i].flags};
        header->bytes += buffers[i].bytes;
        header->slots += buffers[i].slots;
    }
}

static void blocklog_seal_record(struct blocklog *log)
{
    struct blocklog_header *header = &log->header;

    header->magic = BLOCKLOG_HEADER_MAGIC;
    header->id = log->super.id;
    header->sequence = log->next;
    header->begin = header->kind == BLOCKLOG_RECLAIM ? log->next : log->begin;
    header->offset = log->offset;
    header->lost = log->lost;
    if (header->kind == BLOCKLOG_BEGIN) {
        header->begin = log->begin = log->next;
    }
    header->crc = blocklog_crc(header, sizeof(*header) - sizeof(header->crc));
}

static bool has_room(const struct blocklog *log, unsigned count, uint64_t leave)
{
    return log->next - log->oldest + (count > 1 ? count - 1 : 0) + leave < log->super.frames;
}

/* On failure, no frame whose header may be there is reused: the header must stay true. */
static int commit_together(struct blocklog *log, const struct blocklog_buffer *buffers,
                           unsigned count)
{
    bool begun = false;
    int result = write_once(log, buffers, count, &begun);

    log->next += result == 0 || begun ? count : 0;
    log->may_be_there = result != 0 && begun;
    log->passed_over += log->may_be_there ? count : 0;
    return result;
}

/* Commits in this frame, with several tries; uses it up on failure. */
static int commit_here(struct blocklog *log, const struct blocklog_buffer *buffers, unsigned count)
{
    int result = -EIO;
    bool begun;

    for (int i = 0; i < BLOCKLOG_TRIES && result != 0; i++) {
        result = write_once(log, buffers, count, &begun);
        if (result == -ENODEV) {
            return result;
        }
    }
    log->next++;
    log->passed_over += result != 0;
    return result;
}

/* Commits log->header, begun by header_begin(), with this data; `leave`: frames that must stay
 * free. For several pieces, returns -EIO after the first try; they may nevertheless be on the
 * medium. */
static int commit_once(struct blocklog *log, const struct blocklog_buffer *buffers, unsigned count,
                       uint64_t leave)
{
    int result = -EIO;

    seal_pieces(&log->header, buffers, count);
    for (int i = 0; i < BLOCKLOG_SPARE; i++) {
        if (!has_room(log, count, leave)) {
            return -ENOSPC;
        }
        result = bound_for(log, log->next + (count > 1 ? count : 1));
        if (result != 0) {
            return result;
        }
        blocklog_seal_record(log);
        if (count > 1) {
            return commit_together(log, buffers, count);
        }
        result = commit_here(log, buffers, count);
        if (result == 0 || result == -ENODEV) {
            return result;
        }
    }
    return result;
}

static void header_begin(struct blocklog *log, uint16_t kind)
{
    memset(&log->header, 0, sizeof(log->header));
    log->header.kind = kind;
    log->header.oldest = log->oldest;
}

/* ---- making room ------------------------------------------------------------------- */

/* Finds the first record from `at` up to before `after` that belongs to a capture and is readable,
 * in log->header; `after`: there is none. */
static int first_of_a_capture(struct blocklog *log, uint64_t *at, uint64_t after)
{
    int result = 0;

    for (; *at < after; ++*at) {
        result = blocklog_header(log, *at, &log->header);
        if (result == -ENODEV || (result == 0 && log->header.kind != BLOCKLOG_RECLAIM)) {
            return result;
        }
    }
    return 0;
}

/* Finds the beginning of the capture after the oldest one, or its first readable record; next:
 * there is none. Captures follow each other, so a binary search works. */
static int second_begin(struct blocklog *log, uint64_t *begin)
{
    uint64_t low = log->oldest, high = log->next;
    int result = first_of_a_capture(log, &low, high);
    uint64_t first = log->header.begin;

    while (result == 0 && low < high) {
        uint64_t middle = low + (high - low) / 2, at = middle;

        result = first_of_a_capture(log, &at, high);
        if (at < high && log->header.begin == first) {
            low = at + 1;
        } else {
            *begin = at < high ? at : *begin;
            high = middle;
        }
    }
    return result;
}

int blocklog_reclaim(struct blocklog *log)
{
    uint64_t begin = log->next, was = log->oldest;
    int result = second_begin(log, &begin);

    if (result != 0) {
        return result;
    }
    if (log->recording && begin > log->begin) {
        begin = log->begin; /* records before it without a BEGIN */
    }
    if (begin == was) {
        return -ENOENT;
    }
    header_begin(log, BLOCKLOG_RECLAIM);
    log->header.oldest = begin; /* log->oldest changes only when that is on the medium */
    result = commit_once(log, NULL, 0, 0);
    if (result == 0) {
        log->oldest = begin;
    }
    return result;
}

/* ---- captures ---------------------------------------------------------------------- */

/* Commits the same record again, wherever there is room: if an earlier try succeeded after all, the
 * record just exists twice. */
static int blocklog_commit_record(struct blocklog *log, const struct blocklog_buffer *buffers,
                                  unsigned count, uint64_t leave)
{
    const struct blocklog_header wanted = log->header;
    int result = commit_once(log, buffers, count, leave);

    while (result == -ENOSPC && log->reclaims && blocklog_reclaim(log) == 0) {
        log->header = wanted;
        log->header.oldest = log->oldest;
        result = commit_once(log, buffers, count, leave);
    }
    return result;
}

int blocklog_begin(struct blocklog *log, const char *name, uint64_t time)
{
    if (log->recording) {
        return -EINVAL;
    }
    header_begin(log, BLOCKLOG_BEGIN);
    strncpy(log->header.name, name, BLOCKLOG_NAME - 1);
    log->header.time = time;
    log->offset = log->lost = 0;
    int result = blocklog_commit_record(log, NULL, 0, BLOCKLOG_SPARE);

    log->recording = result == 0;
    return result;
}

static int blocklog_append_buffer(struct blocklog *log, const struct blocklog_buffer *buffer,
                                  uint64_t leave)
{
    uint64_t next = log->next;

    if (!log->recording || buffer->bytes == 0 || buffer->bytes > BLOCKLOG_DATA_BYTES) {
        return -EINVAL;
    }
    header_begin(log, BLOCKLOG_DATA);
    int result = blocklog_commit_record(log, buffer, 1, leave);

    /* A failed record may nevertheless exist: the following data must not look like its
     * repetition. */
    log->offset += log->next != next ? buffer->bytes : 0;
    return result;
}

int blocklog_append(struct blocklog *log, const void *data, uint32_t bytes, uint32_t slots,
                    uint16_t cpu)
{
    const struct blocklog_buffer buffer = {data, bytes, slots, cpu, 0, 0};

    return blocklog_append_buffer(log, &buffer, BLOCKLOG_SPARE);
}

int blocklog_append_last(struct blocklog *log, const void *data, uint32_t bytes)
{
    const struct blocklog_buffer buffer = {data, bytes, 0, 0, 0, 0};

    return blocklog_append_buffer(log, &buffer, BLOCKLOG_SPARE - BLOCKLOG_LAST);
}

/* Returns the result for all, or -EAGAIN: append each separately. */
static int append_together(struct blocklog *log, const struct blocklog_buffer *buffers,
                           unsigned count)
{
    uint64_t bytes = 0;

    if (!log->recording || count < 2 || count > BLOCKLOG_TOGETHER) {
        return -EAGAIN;
    }
    for (unsigned i = 0; i < count; i++) {
        if (buffers[i].bytes == 0 || buffers[i].bytes > BLOCKLOG_DATA_BYTES) {
            return -EAGAIN;
        }
        bytes += buffers[i].bytes;
    }
    header_begin(log, BLOCKLOG_DATA);
    int result = blocklog_commit_record(log, buffers, count, BLOCKLOG_SPARE);
    log->offset += result == 0 ? bytes : 0;
    return result == 0 || result == -ENODEV ? result : -EAGAIN;
}

/* Appends each separately. The records may exist together as well, with the same offsets. */
static void append_each(struct blocklog *log, struct blocklog_buffer *buffers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t offset = log->offset;

        buffers[i].result = blocklog_append_buffer(log, &buffers[i], BLOCKLOG_SPARE);
        log->lost += buffers[i].result != 0 ? buffers[i].slots : 0;
        log->offset = log->may_be_there ? offset + buffers[i].bytes : log->offset;
    }
}

void blocklog_append_all(struct blocklog *log, struct blocklog_buffer *buffers, unsigned count)
{
    log->may_be_there = false;
    int result = append_together(log, buffers, count);

    if (result == -EAGAIN) {
        append_each(log, buffers, count);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        buffers[i].result = result;
        log->lost += result != 0 ? buffers[i].slots : 0;
    }
}

void blocklog_lose(struct blocklog *log, uint64_t slots)
{
    log->lost += slots;
}

int blocklog_end(struct blocklog *log)
{
    if (!log->recording) {
        return -EINVAL;
    }
    header_begin(log, BLOCKLOG_END);
    log->recording = false;
    return commit_once(log, NULL, 0, BLOCKLOG_SPARE - BLOCKLOG_LAST - 1);
}

uint64_t blocklog_room(const struct blocklog *log)
{
    uint64_t used = log->next - log->oldest + BLOCKLOG_SPARE;

    return used < log->super.frames ? log->super.frames - used : 0;
}

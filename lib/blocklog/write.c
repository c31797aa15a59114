/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a record: data, flush, header, flush; only then is it acknowledged. A failure is retried
 * from the first write that may be lost, then in the next frame.
 */
#include <errno.h>
#include <string.h>

#include "lib/blocklog/internal.h"

/* The rest of the last sector is zeros, so whole sectors are written from the caller's memory. */
static int write_piece(struct blocklog *log, uint64_t sector, const uint8_t *data, uint32_t bytes)
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

        result =
            write_piece(log, sector + log->super.header_sectors, buffers[i].data, buffers[i].bytes);
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

/* One try: the data is on the medium before the header can be. *begun: the header may be there. */
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

static void seal(struct blocklog *log)
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

int blocklog_commit(struct blocklog *log, const struct blocklog_buffer *buffers, unsigned count,
                    uint64_t leave)
{
    int result = -EIO;

    seal_pieces(&log->header, buffers, count);
    for (int i = 0; i < BLOCKLOG_SPARE; i++) {
        if (!has_room(log, count, leave)) {
            return -ENOSPC;
        }
        result = blocklog_bound_for(log, log->next + (count > 1 ? count : 1));
        if (result != 0) {
            return result;
        }
        seal(log);
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

void blocklog_header_begin(struct blocklog *log, uint16_t kind)
{
    memset(&log->header, 0, sizeof(log->header));
    log->header.kind = kind;
    log->header.oldest = log->oldest;
}

/* Commits the same record again, wherever there is room: if an earlier try succeeded after all, the
 * record just exists twice. */
static int commit(struct blocklog *log, const struct blocklog_buffer *buffers, unsigned count,
                  uint64_t leave)
{
    const struct blocklog_header wanted = log->header;
    int result = blocklog_commit(log, buffers, count, leave);

    while (result == -ENOSPC && log->reclaims && blocklog_reclaim(log) == 0) {
        log->header = wanted;
        log->header.oldest = log->oldest;
        result = blocklog_commit(log, buffers, count, leave);
    }
    return result;
}

int blocklog_begin(struct blocklog *log, const char *name, uint64_t time)
{
    if (log->recording) {
        return -EINVAL;
    }
    blocklog_header_begin(log, BLOCKLOG_BEGIN);
    strncpy(log->header.name, name, BLOCKLOG_NAME - 1);
    log->header.time = time;
    log->offset = log->lost = 0;
    int result = commit(log, NULL, 0, BLOCKLOG_SPARE);

    log->recording = result == 0;
    return result;
}

static int append(struct blocklog *log, const struct blocklog_buffer *buffer, uint64_t leave)
{
    uint64_t next = log->next;

    if (!log->recording || buffer->bytes == 0 || buffer->bytes > BLOCKLOG_DATA_BYTES) {
        return -EINVAL;
    }
    blocklog_header_begin(log, BLOCKLOG_DATA);
    int result = commit(log, buffer, 1, leave);

    /* A failed record may exist nevertheless: the following data must not look like its
     * repetition. */
    log->offset += log->next != next ? buffer->bytes : 0;
    return result;
}

int blocklog_append(struct blocklog *log, const void *data, uint32_t bytes, uint32_t slots,
                    uint16_t cpu)
{
    const struct blocklog_buffer buffer = {data, bytes, slots, cpu, 0, 0};

    return append(log, &buffer, BLOCKLOG_SPARE);
}

int blocklog_append_last(struct blocklog *log, const void *data, uint32_t bytes)
{
    const struct blocklog_buffer buffer = {data, bytes, 0, 0, 0, 0};

    return append(log, &buffer, BLOCKLOG_SPARE - BLOCKLOG_LAST);
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
    blocklog_header_begin(log, BLOCKLOG_DATA);
    int result = commit(log, buffers, count, BLOCKLOG_SPARE);
    log->offset += result == 0 ? bytes : 0;
    return result == 0 || result == -ENODEV ? result : -EAGAIN;
}

/* Appends each separately. They may exist together as well, with the same offsets. */
static void append_each(struct blocklog *log, struct blocklog_buffer *buffers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t offset = log->offset;

        buffers[i].result = append(log, &buffers[i], BLOCKLOG_SPARE);
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
    blocklog_header_begin(log, BLOCKLOG_END);
    log->recording = false;
    return blocklog_commit(log, NULL, 0, BLOCKLOG_SPARE - BLOCKLOG_LAST - 1);
}

uint64_t blocklog_room(const struct blocklog *log)
{
    uint64_t used = log->next - log->oldest + BLOCKLOG_SPARE;

    return used < log->super.frames ? log->super.frames - used : 0;
}

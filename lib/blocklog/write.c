/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing a record: data, flush, header, flush; only then is it acknowledged. What fails is tried
 * again from the first write that may be lost, then in the next frame.
 */
#include <errno.h>
#include <string.h>

#include "lib/blocklog/internal.h"

/* The last sector's rest is zeros, so whole sectors go straight from the caller's memory. */
static int write_data(struct blocklog *log, uint64_t sector, const uint8_t *data)
{
    const struct blocklog_disk *disk = log->disk;
    uint32_t whole = log->header.bytes / BLOCKLOG_SECTOR;
    uint32_t rest = log->header.bytes % BLOCKLOG_SECTOR;
    int result = 0;

    if (whole > 0) {
        result = disk->write(disk->context, sector, data, whole);
    }
    if (result == 0 && rest > 0) {
        memset(log->bounce, 0, sizeof(log->bounce));
        memcpy(log->bounce, data + (size_t)whole * BLOCKLOG_SECTOR, rest);
        result = disk->write(disk->context, sector + whole, log->bounce, 1);
    }
    return result == 0 && log->header.bytes > 0 ? disk->flush(disk->context) : result;
}

static int write_header(struct blocklog *log, uint64_t sector)
{
    const struct blocklog_disk *disk = log->disk;
    int result = disk->write(disk->context, sector, &log->header, 1);

    return result == 0 ? disk->flush(disk->context) : result;
}

/* Once: the data is on the medium before the header can be. */
static int write_once(struct blocklog *log, uint64_t sector, const void *data)
{
    int result = write_data(log, sector + log->super.header_sectors, data);

    return result == 0 ? write_header(log, sector) : result;
}

static int write_frame(struct blocklog *log, const void *data)
{
    uint64_t sector = blocklog_frame_sector(&log->super, log->next);
    int result = -EIO;

    for (int i = 0; i < BLOCKLOG_TRIES && result != 0 && result != -ENODEV; i++) {
        result = write_once(log, sector, data);
        log->tries += result != 0;
    }
    return result;
}

static void seal(struct blocklog *log, const void *data)
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
    header->data_crc = blocklog_crc(data, header->bytes);
    header->crc = blocklog_crc(header, sizeof(*header) - sizeof(header->crc));
}

int blocklog_commit(struct blocklog *log, const void *data, uint64_t leave)
{
    int result = -EIO;

    for (int i = 0; i < BLOCKLOG_SPARE; i++) {
        if (log->next - log->oldest + leave >= log->super.frames) {
            return -ENOSPC;
        }
        seal(log, data);
        result = write_frame(log, data);
        if (result == -ENODEV) {
            return result;
        }
        log->next++;
        if (result == 0) {
            return 0;
        }
        log->passed_over++;
    }
    return result;
}

void blocklog_header_begin(struct blocklog *log, uint16_t kind)
{
    memset(&log->header, 0, sizeof(log->header));
    log->header.kind = kind;
    log->header.oldest = log->oldest;
}

/* The same record again, wherever it gets room: if an earlier try is there after all, it is only
 * there twice. */
static int commit(struct blocklog *log, const void *data, uint64_t leave)
{
    const struct blocklog_header wanted = log->header;
    int result = blocklog_commit(log, data, leave);

    while (result == -ENOSPC && log->reclaims && blocklog_reclaim(log) == 0) {
        log->header = wanted;
        log->header.oldest = log->oldest;
        result = blocklog_commit(log, data, leave);
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
    int result = commit(log, "", BLOCKLOG_SPARE);

    log->recording = result == 0;
    return result;
}

static int append(struct blocklog *log, const void *data, uint32_t bytes, uint32_t slots,
                  uint16_t cpu, uint64_t leave)
{
    uint64_t next = log->next;

    if (!log->recording || bytes == 0 || bytes > BLOCKLOG_DATA_BYTES) {
        return -EINVAL;
    }
    blocklog_header_begin(log, BLOCKLOG_DATA);
    log->header.bytes = bytes;
    log->header.slots = slots;
    log->header.cpu = cpu;
    int result = commit(log, data, leave);

    /* What failed may be there all the same: what follows must not look like its repetition. */
    log->offset += log->next != next ? bytes : 0;
    return result;
}

int blocklog_append(struct blocklog *log, const void *data, uint32_t bytes, uint32_t slots,
                    uint16_t cpu)
{
    return append(log, data, bytes, slots, cpu, BLOCKLOG_SPARE);
}

int blocklog_append_last(struct blocklog *log, const void *data, uint32_t bytes)
{
    return append(log, data, bytes, 0, 0, BLOCKLOG_SPARE - BLOCKLOG_LAST);
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
    return blocklog_commit(log, "", BLOCKLOG_SPARE - BLOCKLOG_LAST - 1);
}

uint64_t blocklog_room(const struct blocklog *log)
{
    uint64_t used = log->next - log->oldest + BLOCKLOG_SPARE;

    return used < log->super.frames ? log->super.frames - used : 0;
}

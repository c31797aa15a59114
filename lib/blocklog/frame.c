/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a frame is, whether what is there is a record, and reading it: see layout.h. */
#include <errno.h>
#include <string.h>

#include "lib/blocklog/internal.h"

uint32_t blocklog_crc(const void *data, size_t bytes)
{
    return ~crc32c_add(CRC32C_START, data, bytes);
}

uint64_t blocklog_frame_sector(const struct blocklog_super *super, uint64_t sequence)
{
    uint64_t frame = sequence % super->frames;

    return BLOCKLOG_FIRST + frame * (super->header_sectors + BLOCKLOG_DATA_SECTORS);
}

static bool sound(const struct blocklog_super *super, uint64_t frame,
                  const struct blocklog_header *header)
{
    return header->magic == BLOCKLOG_HEADER_MAGIC && header->id == super->id &&
           header->crc == blocklog_crc(header, sizeof(*header) - sizeof(header->crc)) &&
           header->sequence % super->frames == frame &&
           (header->sequence | header->offset) >> 62 == 0 && header->bytes <= BLOCKLOG_DATA_BYTES &&
           header->oldest <= header->sequence && header->begin <= header->sequence &&
           header->kind >= BLOCKLOG_BEGIN && header->kind <= BLOCKLOG_RECLAIM &&
           header->name[BLOCKLOG_NAME - 1] == '\0';
}

int blocklog_frame_header(struct blocklog *log, uint64_t frame, struct blocklog_header *header)
{
    uint64_t sector = blocklog_frame_sector(&log->super, frame);
    int result = log->disk->read(log->disk->context, sector, header, 1);

    if (result != 0) {
        return result;
    }
    return sound(&log->super, frame, header) ? 0 : -ENOENT;
}

int blocklog_header(struct blocklog *log, uint64_t sequence, struct blocklog_header *header)
{
    if (sequence < log->oldest || sequence >= log->next) {
        return -ENOENT;
    }
    int result = blocklog_frame_header(log, sequence % log->super.frames, header);

    return result == 0 && header->sequence != sequence ? -ENOENT : result;
}

int blocklog_data(struct blocklog *log, const struct blocklog_header *header, void *data)
{
    uint32_t sectors = (header->bytes + BLOCKLOG_SECTOR - 1) / BLOCKLOG_SECTOR;
    uint64_t sector =
        blocklog_frame_sector(&log->super, header->sequence) + log->super.header_sectors;

    if (sectors == 0) {
        return 0;
    }
    int result = log->disk->read(log->disk->context, sector, data, sectors);

    if (result != 0) {
        return result;
    }
    return blocklog_crc(data, header->bytes) == header->data_crc ? 0 : -EBADMSG;
}

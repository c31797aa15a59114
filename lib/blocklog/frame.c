/* SPDX-License-Identifier: BSD-2-Clause */
/* Locates a frame, checks whether it holds a record, and reads it: see layout.h. */
#include <errno.h>
#include <string.h>

#include "lib/blocklog/internal.h"

uint32_t blocklog_crc(const void *data, size_t bytes)
{
    return ~crc32c_add(CRC32C_START, data, bytes);
}

uint64_t blocklog_first(const struct blocklog_super *super)
{
    return super->version < 3 ? BLOCKLOG_FIRST_OLD : BLOCKLOG_FIRST;
}

uint64_t blocklog_frame_sector(const struct blocklog_super *super, uint64_t sequence)
{
    uint64_t frame = sequence % super->frames;

    return blocklog_first(super) + frame * (super->header_sectors + BLOCKLOG_DATA_SECTORS);
}

static bool pieces_sound(const struct blocklog_header *header)
{
    uint32_t bytes = 0, slots = 0;

    for (uint32_t i = 0; i < header->pieces && i < BLOCKLOG_TOGETHER; i++) {
        const struct blocklog_piece *piece = &header->piece[i];

        if (piece->bytes == 0 || piece->bytes > BLOCKLOG_DATA_BYTES) {
            return false;
        }
        bytes += piece->bytes;
        slots += piece->slots;
    }
    return header->pieces == 0 ? header->bytes <= BLOCKLOG_DATA_BYTES
                               : header->pieces <= BLOCKLOG_TOGETHER && bytes == header->bytes &&
                                     slots == header->slots;
}

bool blocklog_header_is_sound(const struct blocklog_header *header)
{
    return header->magic == BLOCKLOG_HEADER_MAGIC &&
           header->crc == blocklog_crc(header, sizeof(*header) - sizeof(header->crc)) &&
           (header->sequence | header->offset) >> 62 == 0 && pieces_sound(header) &&
           header->oldest <= header->sequence && header->begin <= header->sequence &&
           header->kind >= BLOCKLOG_BEGIN && header->kind <= BLOCKLOG_RECLAIM &&
           header->name[BLOCKLOG_NAME - 1] == '\0';
}

static bool is_of(const struct blocklog_super *super, uint64_t frame,
                  const struct blocklog_header *header)
{
    return blocklog_header_is_sound(header) && header->id == super->id &&
           header->sequence % super->frames == frame;
}

int blocklog_frame_header(struct blocklog *log, uint64_t frame, struct blocklog_header *header)
{
    uint64_t sector = blocklog_frame_sector(&log->super, frame);
    int result = log->disk->read(log->disk->context, sector, header, 1);

    if (result != 0) {
        return result;
    }
    return is_of(&log->super, frame, header) ? 0 : -ENOENT;
}

int blocklog_header(struct blocklog *log, uint64_t sequence, struct blocklog_header *header)
{
    if (sequence < log->oldest || sequence >= log->next) {
        return -ENOENT;
    }
    int result = blocklog_frame_header(log, sequence % log->super.frames, header);

    return result == 0 && header->sequence != sequence ? -ENOENT : result;
}

uint32_t blocklog_frames_of(const struct blocklog_header *header)
{
    return header->pieces > 1 ? header->pieces : 1;
}

static struct blocklog_piece piece_of(const struct blocklog_header *header, unsigned i)
{
    const struct blocklog_piece first = {.crc = header->data_crc,
                                         .bytes = (uint16_t)header->bytes,
                                         .slots = (uint16_t)header->slots,
                                         .cpu = header->cpu};

    return header->pieces == 0 ? first : header->piece[i];
}

int blocklog_data(struct blocklog *log, const struct blocklog_header *header, unsigned i,
                  void *data, uint32_t *bytes)
{
    const struct blocklog_piece piece = piece_of(header, i);
    uint32_t sectors = (piece.bytes + BLOCKLOG_SECTOR - 1u) / BLOCKLOG_SECTOR;
    uint64_t sector =
        blocklog_frame_sector(&log->super, header->sequence + i) + log->super.header_sectors;

    *bytes = piece.bytes;
    if (sectors == 0) {
        return 0;
    }
    int result = log->disk->read(log->disk->context, sector, data, sectors);

    if (result != 0) {
        return result;
    }
    return blocklog_crc(data, piece.bytes) == piece.crc ? 0 : -EBADMSG;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sectors of a log's parts on its disk, and the checksum of all of them; layout.h has their
 * contents. For lib/blocklog/ and its tests.
 */
#ifndef LIB_BLOCKLOG_SECTORS_H
#define LIB_BLOCKLOG_SECTORS_H

#include "lib/blocklog/layout.h"
#include "lib/link/crc32c.h"

static inline uint32_t blocklog_crc(const void *data, size_t bytes)
{
    return ~crc32c_add(CRC32C_START, data, bytes);
}

/* Returns the sector of frame 0. */
static inline uint64_t blocklog_first(const struct blocklog_super *super)
{
    return super->version < 3 ? BLOCKLOG_FIRST_OLD : BLOCKLOG_FIRST;
}

/* Returns the sector of the frame of record `sequence`. */
static inline uint64_t blocklog_frame_sector(const struct blocklog_super *super, uint64_t sequence)
{
    uint64_t frame = sequence % super->frames;

    return blocklog_first(super) + frame * (super->header_sectors + BLOCKLOG_DATA_SECTORS);
}

/* Returns the sector of bound 0 or 1. */
static inline uint64_t blocklog_bound_sector(const struct blocklog_super *super, unsigned i)
{
    return i == 0 ? 8 : ((super->sectors - 1) & ~(uint64_t)7) - 8;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The block log on the medium (docs/reference/blocklog.md): the first and last sector describe
 * the disk; between them are frames of one size, each a header and one record's data. Record n is
 * in frame n % frames, so every header has a known location. Near both ends a sector holds a number
 * that no record has reached. Little-endian, like all CPUs that write it; sectors of 512 bytes.
 */
#ifndef LIB_BLOCKLOG_LAYOUT_H
#define LIB_BLOCKLOG_LAYOUT_H

#include <stdint.h>

#include "abi/static_assert.h"

#define BLOCKLOG_SECTOR 512u
#define BLOCKLOG_DATA_SECTORS 32u /* of a frame: one trace buffer */
#define BLOCKLOG_DATA_BYTES (BLOCKLOG_DATA_SECTORS * BLOCKLOG_SECTOR)
#define BLOCKLOG_FIRST 16u    /* sector of frame 0 */
#define BLOCKLOG_FIRST_OLD 8u /* of versions 1 and 2 */
/* Sectors of a disk with this many frames. */
#define BLOCKLOG_DISK(frames, header_sectors) \
    (((BLOCKLOG_FIRST + (frames) * ((header_sectors) + BLOCKLOG_DATA_SECTORS) + 7u) & ~7u) + 9u)
#define BLOCKLOG_NAME 128

#define BLOCKLOG_TIME_LEAST 946684800u /* 2000: an earlier time comes from no real-time clock */

#define BLOCKLOG_SUPER_MAGIC "KymoBlok"
#define BLOCKLOG_BOUND_MAGIC "KymoBoun"
#define BLOCKLOG_HEADER_MAGIC 0x676f6c4bu /* Klog */
#define BLOCKLOG_VERSION 3u  /* 2 has no bounds; in 1 records have one piece, not in the table */
#define BLOCKLOG_TOGETHER 16 /* pieces of a record */

/* A power cut's effect on a sector determines which data may share a physical sector with a header:
 * none, where physical sectors are larger than 512 bytes (header_sectors 8). */
struct blocklog_super {
    char magic[8];
    uint32_t version;
    uint32_t header_sectors; /* of a frame, 1 or 8; the first has the header */
    uint64_t frames;
    uint64_t id;      /* of this log: headers with another id are invalid */
    uint64_t sectors; /* of the disk, this one's copy included */
    uint8_t zero[BLOCKLOG_SECTOR - 44];
    uint32_t crc; /* CRC-32C of all before */
};
KYMO_STATIC_ASSERT(sizeof(struct blocklog_super) == BLOCKLOG_SECTOR, "layout");

/*
 * Upper bound: no record has this number, or a higher one. Written to the medium before such a
 * record. Stored twice, each copy in its own 8 sectors as a large physical sector may have. If both
 * are valid the higher counts; if one is not valid, it might be the higher, and neither counts.
 */
struct blocklog_bound {
    char magic[8];
    uint64_t id; /* the log's */
    uint64_t bound;
    uint8_t zero[BLOCKLOG_SECTOR - 28];
    uint32_t crc; /* CRC-32C of all before */
};
KYMO_STATIC_ASSERT(sizeof(struct blocklog_bound) == BLOCKLOG_SECTOR, "layout");

enum blocklog_kind {
    BLOCKLOG_BEGIN = 1, /* a capture begins; its name; no data */
    BLOCKLOG_DATA,      /* its bytes from `offset` on */
    BLOCKLOG_END,       /* the capture is complete: `offset` bytes, `lost` slots */
    BLOCKLOG_RECLAIM,   /* `oldest` has moved; belongs to no capture */
};

/* The part of a record in one frame: a trace buffer. */
struct blocklog_piece {
    uint32_t crc; /* CRC-32C of the data */
    uint16_t bytes, slots;
    uint16_t cpu; /* CPU of these slots; 0 if there are none */
    uint16_t flags;
};
#define BLOCKLOG_CHECKED 1u /* CHECK and BUFFER_END belong after it (lib/capture/check.h) */
KYMO_STATIC_ASSERT(sizeof(struct blocklog_piece) == 12, "layout");

/* Header in a record's first frame; further pieces are in the next frames, whose headers are
 * unused. */
struct blocklog_header {
    uint32_t magic;
    uint16_t kind;
    uint16_t cpu;      /* version 1 */
    uint64_t id;       /* the log's */
    uint64_t sequence; /* of the record, from 0 */
    uint64_t oldest;   /* records before this are deleted: their frames may be reused */
    uint64_t begin;    /* record that began this capture */
    uint64_t offset;   /* in the capture */
    uint64_t lost;     /* slots of the capture so far that were not written */
    uint64_t time;     /* BEGIN: seconds since 1970, 0: not known */
    uint32_t bytes;    /* of data, in all pieces */
    uint32_t slots;    /* in it */
    uint32_t data_crc; /* version 1 */
    uint32_t pieces;
    char name[BLOCKLOG_NAME]; /* BEGIN: NUL-padded */
    struct blocklog_piece piece[BLOCKLOG_TOGETHER];
    uint8_t zero[BLOCKLOG_SECTOR - 84 - BLOCKLOG_NAME - BLOCKLOG_TOGETHER * 12];
    uint32_t crc; /* CRC-32C of all before */
};
KYMO_STATIC_ASSERT(sizeof(struct blocklog_header) == BLOCKLOG_SECTOR, "layout");

#endif

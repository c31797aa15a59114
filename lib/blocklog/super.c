/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The disk's description: written once, to its first and its last sector; either suffices. A disk
 * on which neither is valid may hold other data: it is refused, not overwritten.
 */
#include <errno.h>
#include <string.h>

#include "lib/blocklog/internal.h"

#define SECTORS_LEAST (BLOCKLOG_FRAMES_LEAST * BLOCKLOG_DATA_SECTORS)
/* Interval of progress reports in a search of a whole disk. */
#define LOOK_PROGRESS (1024u * BLOCKLOG_DATA_SECTORS) /* sectors */

/* Between the supers, and the bounds if there are any. */
static uint64_t frames_most(const struct blocklog_super *super)
{
    uint64_t after = super->version < 3 ? super->sectors - 1 : blocklog_bound_sector(super, 1);
    uint64_t first = blocklog_first(super);

    return after < first ? 0 : (after - first) / (super->header_sectors + BLOCKLOG_DATA_SECTORS);
}

static void describe(const struct blocklog_disk *disk, uint64_t id, struct blocklog_super *super)
{
    memset(super, 0, sizeof(*super));
    memcpy(super->magic, BLOCKLOG_SUPER_MAGIC, sizeof(super->magic));
    super->version = BLOCKLOG_VERSION;
    super->header_sectors = disk->physical_bytes > BLOCKLOG_SECTOR ? 8 : 1;
    super->id = id;
    super->sectors = disk->sectors;
    super->frames = frames_most(super);
    super->crc = blocklog_crc(super, sizeof(*super) - sizeof(super->crc));
}

bool blocklog_super_is_sound(const struct blocklog_super *super)
{
    return memcmp(super->magic, BLOCKLOG_SUPER_MAGIC, sizeof(super->magic)) == 0 &&
           super->version != 0 && super->version <= BLOCKLOG_VERSION &&
           super->crc == blocklog_crc(super, sizeof(*super) - sizeof(super->crc)) &&
           (super->header_sectors == 1 || super->header_sectors == 8) &&
           super->sectors >= SECTORS_LEAST && super->frames >= BLOCKLOG_FRAMES_LEAST &&
           super->frames <= frames_most(super);
}

static int super_read(const struct blocklog_disk *disk, uint64_t sector,
                      struct blocklog_super *super)
{
    int result = disk->read(disk->context, sector, super, 1);

    if (result != 0) {
        return result;
    }
    if (!blocklog_super_is_sound(super)) {
        return -EILSEQ;
    }
    return super->sectors <= disk->sectors ? 0 : -EFBIG;
}

/* No header on the disk may remain valid: ids of one disk's logs ascend. */
static uint64_t id_after(const struct blocklog_disk *disk, uint64_t id)
{
    const uint64_t sectors[] = {0, disk->sectors - 1};
    struct blocklog_super old;
    bool any = false;

    for (int i = 0; i < 2; i++) {
        int result = super_read(disk, sectors[i], &old);

        if ((result == 0 || result == -EFBIG) && (!any || old.id >= id)) {
            id = old.id + 1;
            any = true;
        }
    }
    return id;
}

static void begin_at_0(struct blocklog *log, const struct blocklog_disk *disk)
{
    log->disk = disk;
    log->next = log->oldest = log->begin = log->offset = log->lost = 0;
    log->bound[0] = log->bound[1] = 0;
    log->recording = log->reclaims = false;
    log->passed_over = log->tries = 0;
}

int blocklog_format(struct blocklog *log, const struct blocklog_disk *disk, uint64_t id)
{
    const struct blocklog_super *super = &log->super;
    int result;

    if (disk->sectors < SECTORS_LEAST) {
        return -ENOSPC;
    }
    begin_at_0(log, disk);
    describe(disk, id_after(disk, id), &log->super);
    if (super->frames < BLOCKLOG_FRAMES_LEAST) {
        return -ENOSPC;
    }
    /* The copy first: a power cut between the two leaves the old log complete, or the new one
     * through its copy if the old one's first sector was torn. */
    result = disk->write(disk->context, disk->sectors - 1, super, 1);
    result = result == 0 ? disk->flush(disk->context) : result;
    result = result == 0 ? disk->write(disk->context, 0, super, 1) : result;
    return result == 0 ? disk->flush(disk->context) : result;
}

static bool is_of_a_log(const uint8_t *sector)
{
    return blocklog_header_is_sound((const void *)sector) ||
           blocklog_super_is_sound((const void *)sector);
}

/* There is no description: records may exist nevertheless, of any layout and wherever a copy has
 * moved them. Reads sector by sector where several at once fail. */
static int look_for_records(struct blocklog *log, const struct blocklog_disk *disk, uint8_t *room)
{
    for (uint64_t at = 0; at < disk->sectors; at += BLOCKLOG_DATA_SECTORS) {
        uint64_t left = disk->sectors - at;
        uint32_t count = left < BLOCKLOG_DATA_SECTORS ? (uint32_t)left : BLOCKLOG_DATA_SECTORS;
        int result = disk->read(disk->context, at, room, count);

        for (uint32_t i = 0; i < count && result != -ENODEV; i++) {
            uint8_t *sector = room + (size_t)i * BLOCKLOG_SECTOR;
            int one = result == 0 ? 0 : disk->read(disk->context, at + i, sector, 1);

            if (one == -ENODEV) {
                return one;
            }
            if (one == 0 && is_of_a_log(sector)) {
                return 1;
            }
        }
        if (result == -ENODEV) {
            return result;
        }
        if (log->progress && at % LOOK_PROGRESS == 0) {
            log->progress(log->progress_what, at, disk->sectors);
        }
    }
    return 0;
}

int blocklog_holds_captures(struct blocklog *log, const struct blocklog_disk *disk, void *room)
{
    int result = blocklog_open(log, disk);

    for (uint64_t at = log->oldest; result == 0 && at < log->next; at++) {
        int there = blocklog_header(log, at, &log->header);

        if (there == 0 && log->header.kind != BLOCKLOG_RECLAIM) {
            return 1;
        }
        result = there == -ENODEV ? there : 0;
    }
    if (result == -EFBIG) {
        return 1;
    }
    return result == -EILSEQ ? look_for_records(log, disk, room) : result;
}

int blocklog_open(struct blocklog *log, const struct blocklog_disk *disk)
{
    begin_at_0(log, disk);
    if (disk->sectors < SECTORS_LEAST) {
        return -EILSEQ;
    }
    int result = super_read(disk, 0, &log->super);

    if (result != 0 && result != -ENODEV) {
        int other = super_read(disk, disk->sectors - 1, &log->super);

        result = other == 0 || (other != -EIO && result == -EIO) ? other : result;
    }
    return result == 0 ? blocklog_find_end(log) : result;
}

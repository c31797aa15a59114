/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contents of the disk: its description, its records and their end. The description is written
 * once, to the first and the last sector; either suffices. A disk on which neither is valid may
 * hold other data: it is refused, not overwritten.
 */
#include <errno.h>
#include <string.h>

#include "lib/blocklog/blocklog.h"
#include "lib/blocklog/sectors.h"

#define SECTORS_LEAST (BLOCKLOG_FRAMES_LEAST * BLOCKLOG_DATA_SECTORS)
/* Interval of progress reports in a search of a whole disk. */
#define LOOK_PROGRESS (1024u * BLOCKLOG_DATA_SECTORS) /* sectors */

/* Returns the frames that fit between the descriptions, and the bounds if there are any. */
static uint64_t frames_most(const struct blocklog_super *super)
{
    uint64_t after = super->version < 3 ? super->sectors - 1 : blocklog_bound_sector(super, 1);
    uint64_t first = blocklog_first(super);

    return after < first ? 0 : (after - first) / (super->header_sectors + BLOCKLOG_DATA_SECTORS);
}

uint32_t blocklog_super_is_later(const struct blocklog_super *super)
{
    return memcmp(super->magic, BLOCKLOG_SUPER_MAGIC, sizeof(super->magic)) == 0 &&
                   super->version > BLOCKLOG_VERSION &&
                   super->crc == blocklog_crc(super, sizeof(*super) - sizeof(super->crc))
               ? super->version
               : 0;
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

static void begin_at_0(struct blocklog *log, const struct blocklog_disk *disk)
{
    log->disk = disk;
    log->next = log->oldest = log->begin = log->offset = log->lost = 0;
    log->bound[0] = log->bound[1] = 0;
    log->recording = log->reclaims = false;
    log->passed_over = log->tries = 0;
}

/* ---- records ----------------------------------------------------------------------- */

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

/* What has a header's magic or the log's id was a header: a record is damaged, not absent. Writing
 * can't leave that, as a sector is written whole or not at all. */
static bool was_header(const struct blocklog *log, const struct blocklog_header *header)
{
    return !blocklog_header_is_sound(header) &&
           (header->magic == BLOCKLOG_HEADER_MAGIC || header->id == log->super.id);
}

/* Reads the header in a frame, of any lap: 0, -ENOENT not valid, -EBADMSG damaged, -EIO,
 * -ENODEV. */
static int frame_header(struct blocklog *log, uint64_t frame, struct blocklog_header *header)
{
    uint64_t sector = blocklog_frame_sector(&log->super, frame);
    int result = log->disk->read(log->disk->context, sector, header, 1);

    if (result != 0) {
        return result;
    }
    bool is_valid = blocklog_header_is_sound(header) && header->id == log->super.id &&
                    header->sequence % log->super.frames == frame;
    return is_valid ? 0 : was_header(log, header) ? -EBADMSG : -ENOENT;
}

/* Returns the first frame from `frame` on whose header's sector may be readable; super.frames: none
 * is. Each step passes over sectors that can't be read, up to one that can. */
static uint64_t frame_from(const struct blocklog *log, uint64_t frame)
{
    uint64_t stride = log->super.header_sectors + BLOCKLOG_DATA_SECTORS;

    while (frame < log->super.frames) {
        uint64_t sector = blocklog_frame_sector(&log->super, frame);
        uint64_t there = blocklog_readable_from(log->disk, sector);

        if (there == sector) {
            break;
        }
        frame = there == UINT64_MAX ? log->super.frames
                                    : frame + (there - sector + stride - 1) / stride;
    }
    return frame < log->super.frames ? frame : log->super.frames;
}

uint64_t blocklog_record_from(const struct blocklog *log, uint64_t at)
{
    uint64_t frames = log->super.frames, frame = at % frames;
    uint64_t there = frame_from(log, frame);

    if (there < frames) {
        return at + (there - frame);
    }
    there = frame_from(log, 0); /* the next lap */
    return there < frame ? at + (frames - frame) + there : UINT64_MAX;
}

int blocklog_header(struct blocklog *log, uint64_t sequence, struct blocklog_header *header)
{
    if (sequence < log->oldest || sequence >= log->next) {
        return -ENOENT;
    }
    int result = frame_header(log, sequence % log->super.frames, header);

    return result == 0 && header->sequence != sequence ? -ENOENT : result;
}

uint32_t blocklog_frames_of(const struct blocklog_header *header)
{
    return header->pieces > 1 ? header->pieces : 1;
}

int blocklog_data(struct blocklog *log, const struct blocklog_header *header, unsigned i,
                  void *data, uint32_t *bytes)
{
    const struct blocklog_piece only = {.crc = header->data_crc, .bytes = (uint16_t)header->bytes};
    const struct blocklog_piece piece = header->pieces == 0 ? only : header->piece[i];
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

/* ---- the end ----------------------------------------------------------------------- */

/*
 * The end of the log is after the record with the highest number. With a bound, which is on the
 * medium before any record it must cover, that record is the first valid one downwards from it: all
 * above were read, or can't exist. Without one all headers are read. Both methods give the same
 * result whatever the disk has lost: test/lib/blocklog/find_test.c.
 */
static int bound_read_one(struct blocklog *log, unsigned i)
{
    struct blocklog_bound *at = (struct blocklog_bound *)(void *)log->bounce;
    const struct blocklog_disk *disk = log->disk;
    int result = disk->read(disk->context, blocklog_bound_sector(&log->super, i), at, 1);

    if (result == 0 && memcmp(at->magic, BLOCKLOG_BOUND_MAGIC, sizeof(at->magic)) == 0 &&
        at->id == log->super.id && at->bound >> 62 == 0 &&
        at->crc == blocklog_crc(at, sizeof(*at) - sizeof(at->crc))) {
        log->bound[i] = at->bound;
    }
    return result;
}

/* Reads the upper bound of all records' numbers, 0: unknown. -ENODEV. */
static int bound_read(struct blocklog *log, uint64_t *bound)
{
    *bound = 0;
    for (unsigned i = 0; i < 2 && log->super.version >= 3; i++) {
        if (bound_read_one(log, i) == -ENODEV) {
            return -ENODEV;
        }
    }
    if (log->bound[0] != 0 && log->bound[1] != 0) {
        *bound = log->bound[0] > log->bound[1] ? log->bound[0] : log->bound[1];
    }
    return 0;
}

/* Newer records that are unreadable or damaged may follow the newest header: they are kept. */
static void step_over_unreadable(struct blocklog *log)
{
    for (int i = 0; i < BLOCKLOG_SPARE && log->next - log->oldest < log->super.frames; i++) {
        int result = frame_header(log, log->next % log->super.frames, &log->header);

        if (result != -EIO && result != -EBADMSG) {
            break;
        }
        log->next++;
    }
}

/* log->header is the newest header so far. */
static void take_newest(struct blocklog *log)
{
    log->next = log->header.sequence + blocklog_frames_of(&log->header);
    log->oldest = log->header.oldest;
}

/* known: the newest was found, or there is none. A header above the bound ends the search, and so
 * does a frame that the disk can't have: how many follow is only the description's claim. */
static int look_below(struct blocklog *log, uint64_t bound, bool *known)
{
    uint64_t frames = log->super.frames;
    uint64_t lowest = bound > frames ? bound - frames : 0;

    for (uint64_t at = bound; at > lowest; at--) {
        if (frame_from(log, (at - 1) % frames) != (at - 1) % frames) {
            return 0;
        }
        int result = frame_header(log, (at - 1) % frames, &log->header);

        if (result == -ENODEV) {
            return result;
        }
        if (result == 0 && log->header.sequence >= at - 1) {
            *known = log->header.sequence == at - 1;
            if (*known) {
                take_newest(log);
            }
            return 0;
        }
    }
    *known = lowest == 0;
    return 0;
}

static int look_at_all(struct blocklog *log)
{
    bool found = false;

    for (uint64_t frame = frame_from(log, 0); frame < log->super.frames;
         frame = frame_from(log, frame + 1)) {
        int result = frame_header(log, frame, &log->header);

        if (result == -ENODEV) {
            return result;
        }
        if (result == 0 && (!found || log->header.sequence >= log->next)) {
            found = true;
            take_newest(log);
        }
        if (log->progress && frame % 1024 == 0) {
            log->progress(log->progress_what, frame, log->super.frames);
        }
    }
    return 0;
}

/* Finds next and oldest. 0, -ENODEV. */
static int find_end(struct blocklog *log)
{
    uint64_t bound;
    bool known = false;
    int result = bound_read(log, &bound);

    if (result == 0 && bound != 0) {
        result = look_below(log, bound, &known);
    }
    if (result == 0 && !known) {
        result = look_at_all(log);
    }
    if (result != 0) {
        return result;
    }
    /* Older laps are overwritten whatever their headers contain. */
    if (log->next - log->oldest > log->super.frames) {
        log->oldest = log->next - log->super.frames;
    }
    step_over_unreadable(log);
    return 0;
}

/* ---- opening ----------------------------------------------------------------------- */

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
    return result == 0 ? find_end(log) : result;
}

static bool is_of_a_log(const uint8_t *sector)
{
    return blocklog_header_is_sound((const void *)sector) ||
           blocklog_super_is_sound((const void *)sector);
}

/* There is no description: records may exist nevertheless, of any layout and wherever a copy has
 * moved them. Reads sector by sector where several at once fail. The disk's own size bounds it. */
static int look_for_records(struct blocklog *log, const struct blocklog_disk *disk, uint8_t *room)
{
    for (uint64_t at = blocklog_readable_from(disk, 0); at < disk->sectors;
         at = blocklog_readable_from(disk, at + BLOCKLOG_DATA_SECTORS)) {
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

    for (uint64_t at = result == 0 ? blocklog_record_from(log, log->oldest) : 0;
         result == 0 && at < log->next; at = blocklog_record_from(log, at + 1)) {
        int there = blocklog_header(log, at, &log->header);

        if (there == -EBADMSG || (there == 0 && log->header.kind != BLOCKLOG_RECLAIM)) {
            return 1;
        }
        result = there == -ENODEV ? there : 0;
    }
    if (result == -EFBIG) {
        return 1;
    }
    return result == -EILSEQ ? look_for_records(log, disk, room) : result;
}

/* ---- making a log ------------------------------------------------------------------ */

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

static void blocklog_describe_disk(const struct blocklog_disk *disk, uint64_t id,
                                   struct blocklog_super *super)
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

int blocklog_format(struct blocklog *log, const struct blocklog_disk *disk, uint64_t id)
{
    const struct blocklog_super *super = &log->super;
    int result;

    if (disk->sectors < SECTORS_LEAST) {
        return -ENOSPC;
    }
    begin_at_0(log, disk);
    blocklog_describe_disk(disk, id_after(disk, id), &log->super);
    if (super->frames < BLOCKLOG_FRAMES_LEAST) {
        return -ENOSPC;
    }
    /* Writes the copy first: a power cut between the two leaves the old log complete, or the new
     * one through its copy if the old one's first sector was torn. */
    result = disk->write(disk->context, disk->sectors - 1, super, 1);
    result = result == 0 ? disk->flush(disk->context) : result;
    result = result == 0 ? disk->write(disk->context, 0, super, 1) : result;
    return result == 0 ? disk->flush(disk->context) : result;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bound (layout.h), which saves find.c from reading all headers. It is advanced every so many
 * records, by a write and a flush of its own, before the first record that needs it. If neither
 * location can be written, the record isn't written either: a record that could not be found is not
 * acknowledged.
 */
#include <errno.h>
#include <string.h>

#include "lib/blocklog/internal.h"

/* Records by which a bound is set ahead: the number of headers read at most, and the interval of
 * updates. */
#define AHEAD_PART 64 /* of all frames */
#define AHEAD_LEAST 4u
#define AHEAD_MOST 256u

uint64_t blocklog_bound_sector(const struct blocklog_super *super, unsigned i)
{
    return i == 0 ? 8 : ((super->sectors - 1) & ~(uint64_t)7) - 8;
}

static int read_one(struct blocklog *log, unsigned i)
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

int blocklog_bound_read(struct blocklog *log, uint64_t *bound)
{
    *bound = 0;
    for (unsigned i = 0; i < 2 && log->super.version >= 3; i++) {
        if (read_one(log, i) == -ENODEV) {
            return -ENODEV;
        }
    }
    if (log->bound[0] != 0 && log->bound[1] != 0) {
        *bound = log->bound[0] > log->bound[1] ? log->bound[0] : log->bound[1];
    }
    return 0;
}

static int write_one(struct blocklog *log, unsigned i, uint64_t bound)
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

static uint64_t ahead(const struct blocklog *log)
{
    uint64_t part = log->super.frames / AHEAD_PART;

    return part < AHEAD_LEAST ? AHEAD_LEAST : part < AHEAD_MOST ? part : AHEAD_MOST;
}

/* Keeps the higher one, unless the lower one's location is bad. */
int blocklog_bound_for(struct blocklog *log, uint64_t after)
{
    unsigned lower = log->bound[0] <= log->bound[1] ? 0 : 1;
    int result = -EIO;

    if (log->super.version < 3 || after <= log->bound[!lower]) {
        return 0;
    }
    for (unsigned i = 0; i < 2 * BLOCKLOG_TRIES && result != 0 && result != -ENODEV; i++) {
        result = write_one(log, (lower + i) % 2, after + ahead(log));
    }
    if (result == 0 && log->bound[!lower] == 0) {
        write_one(log, !lower, after + ahead(log)); /* only speeds up the next search */
    }
    return result;
}

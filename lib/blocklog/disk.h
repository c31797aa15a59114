/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The block log's interface to a disk: a driver process on a target, a file on a host, a model in
 * tests. One thread. All return 0 or a negative errno; -ENODEV: permanently gone.
 */
#ifndef LIB_BLOCKLOG_DISK_H
#define LIB_BLOCKLOG_DISK_H

#include <stdint.h>

struct blocklog_disk {
    void *context;
    uint64_t sectors;        /* of 512 bytes */
    uint32_t physical_bytes; /* unit in which the medium writes, 512 if unknown */
    int (*read)(void *context, uint64_t sector, void *data, uint32_t sectors);
    /* Written data may be lost or torn by a power cut, in any order, until flush() returns 0. */
    int (*write)(void *context, uint64_t sector, const void *data, uint32_t sectors);
    int (*flush)(void *context);
    /* Returns the first sector from `sector` on that may be readable, UINT64_MAX: there is none.
     * NULL: all `sectors` may be. A reader of a disk that claims more than it has uses it to bound
     * its loops; a disk that is written to has all of its sectors. */
    uint64_t (*next)(void *context, uint64_t sector);
};

static inline uint64_t blocklog_readable_from(const struct blocklog_disk *disk, uint64_t sector)
{
    return disk->next ? disk->next(disk->context, sector) : sector;
}

#endif

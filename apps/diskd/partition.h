/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds Kymo's partition of a disk in a partition table of the kind that PCs and firmware of small
 * boards read (MBR). A driver calls partition_find() when it can read; tested by test/apps/diskd/.
 */
#ifndef APPS_DISKD_PARTITION_H
#define APPS_DISKD_PARTITION_H

#include <stdint.h>

#define PARTITION_TRACE 0xdau /* type of Kymo's partition: "non-file-system data" */

struct partition {
    uint64_t first, sectors;
};

/*
 * Reads the disk's first sector. Returns 0 and the whole disk if there is no table, or the first
 * partition of the type PARTITION_TRACE; ENOENT if there is a table without one, or with one beyond
 * the disk's end: other systems' data there is not touched.
 */
int partition_find(const uint8_t sector0[512], uint64_t disk_sectors, struct partition *found);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The partition of a disk for captures: see partition.h. */
#include <errno.h>
#include <stdbool.h>

#include "apps/diskd/partition.h"

#define TABLE 446
#define ENTRY_BYTES 16
#define ENTRIES 4
#define ENTRY_TYPE 4
#define ENTRY_FIRST 8
#define ENTRY_SECTORS 12

static uint32_t partition_le32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static bool has_table(const uint8_t *sector0)
{
    return sector0[510] == 0x55 && sector0[511] == 0xaa;
}

int partition_find(const uint8_t sector0[512], uint64_t disk_sectors, struct partition *found)
{
    if (!has_table(sector0)) {
        *found = (struct partition){0, disk_sectors};
        return 0;
    }
    for (unsigned i = 0; i < ENTRIES; i++) {
        const uint8_t *entry = sector0 + TABLE + i * ENTRY_BYTES;
        uint64_t first = partition_le32(entry + ENTRY_FIRST),
                 sectors = partition_le32(entry + ENTRY_SECTORS);

        if (entry[ENTRY_TYPE] == PARTITION_TRACE) {
            *found = (struct partition){first, sectors};
            return first > 0 && sectors > 0 && first + sectors <= disk_sectors ? 0 : ENOENT;
        }
    }
    return ENOENT;
}

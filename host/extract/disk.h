/* SPDX-License-Identifier: BSD-2-Clause */
/* An image of a disk, or the disk itself, as the block log reads it. */
#ifndef HOST_EXTRACT_DISK_H
#define HOST_EXTRACT_DISK_H

#include "lib/blocklog/disk.h"
#include "lib/blocklog/layout.h"

struct extract_disk {
    struct blocklog_disk disk;   /* as large as its first sector says that it was */
    uint64_t missing;            /* sectors of it that the image doesn't have */
    struct blocklog_super super; /* its first sector, if some are missing */
    uint32_t later;              /* a version of the log that this kymo does not know; 0: none */
    int fd;
};

/* Read-only. -1: it said why not. */
int extract_disk_open(struct extract_disk *disk, const char *path);
void extract_disk_close(struct extract_disk *disk);

#endif

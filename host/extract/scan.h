/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A block log of which neither end says what it is: its records are searched for in the whole
 * image, wherever they are, as a copy that left bad sectors out may have moved them. What is found
 * is shown as a disk whose log's records are at their places, so that captures.h reads it.
 */
#ifndef HOST_EXTRACT_SCAN_H
#define HOST_EXTRACT_SCAN_H

#include "lib/blocklog/blocklog.h"

struct extract_scan {
    const struct blocklog_disk *disk; /* that was searched */
    struct blocklog_disk found;       /* the one that is shown */
    uint32_t header_sectors;
    uint64_t frames, *place; /* of each frame of `found`: sector on `disk`, and is it a header */
    uint64_t records;        /* of the log that is shown */
    uint64_t others;         /* of earlier logs */
};

/* 0 with log open, or -EILSEQ: no record is there; -ENOMEM. The log's progress is set before. Then
 * extract_scan_free(). */
int extract_scan(struct extract_scan *scan, struct blocklog *log, const struct blocklog_disk *disk);
void extract_scan_free(struct extract_scan *scan);

#endif

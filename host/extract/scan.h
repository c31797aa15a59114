/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A block log of which neither end says what it is: its records are searched for in the whole
 * image, wherever they are, as a copy that left bad sectors out may have moved them. What is found
 * is shown as a disk whose log's records are at their places, so that captures.h reads it.
 */
#ifndef HOST_EXTRACT_SCAN_H
#define HOST_EXTRACT_SCAN_H

#include <stddef.h>

#include "lib/blocklog/blocklog.h"

struct extract_scan_log {
    uint64_t id, records;
};

struct extract_scan_frame {
    uint64_t frame, sector; /* where its beginning is on the disk that was searched */
    size_t order;           /* in which it was found */
    bool is_header;         /* a record begins in it */
};

struct extract_scan {
    const struct blocklog_disk *disk; /* that was searched */
    struct blocklog_disk found;       /* the one that is shown */
    uint32_t header_sectors;
    uint64_t frames; /* of `found` */
    /* The frames that have a record or a piece of one, ascending: as many as the records have. */
    struct extract_scan_frame *frame;
    size_t used;
    uint64_t records; /* of the log that is shown */
    /* All logs of which records were found, the oldest first, and which one is shown, from 1. */
    struct extract_scan_log *log;
    size_t logs, shown;
};

/* Log `number` of those on the disk, from 1; 0: the newest one. 0 with log open, or -EILSEQ: no
 * record is there; -ENOENT: there is no such log, scan->logs says how many there are; -ENOMEM. The
 * log's progress is set before. Then extract_scan_free(). */
int extract_scan(struct extract_scan *scan, struct blocklog *log, const struct blocklog_disk *disk,
                 size_t number);
void extract_scan_free(struct extract_scan *scan);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures on a disk without a file system, so that a power cut at any write loses nothing that was
 * acknowledged. A log of records (layout.h): a record's data is written and flushed, then its
 * header is written and flushed, then the caller is told. A header that is sound therefore has its
 * data; one that isn't was acknowledged to nobody. Recovery looks for the newest header, downwards
 * from a bound that the medium has, or in all of them. Flushes take most of the time, so a record
 * may be several buffers, which share the two.
 *
 * Several captures follow each other; none is overwritten unless blocklog_reclaim(), or `reclaims`,
 * was asked to free the oldest. A frame that can't be written after some tries is passed over: its
 * number is missing, nothing else. A flush that failed may have forgotten what it was to write, so
 * then all since the last good one is written again.
 *
 * One thread; no allocation. Functions return 0 or a negative errno: -EIO the medium, -ENODEV the
 * disk is gone, -ENOSPC the log is full, -EILSEQ no log is on the disk (or another version's),
 * -EFBIG the log is of a larger disk, -EINVAL wrong use. Proved by test/blocklog: cuts at every
 * write, torn and reordered; faults.
 */
#ifndef LIB_BLOCKLOG_BLOCKLOG_H
#define LIB_BLOCKLOG_BLOCKLOG_H

#include <stdbool.h>

#include "lib/blocklog/disk.h"
#include "lib/blocklog/layout.h"

#define BLOCKLOG_TRIES 3 /* of a write or flush, before its frame is passed over */
#define BLOCKLOG_SPARE 8 /* frames that data leaves free: for what ends and reclaims */
#define BLOCKLOG_LAST 3  /* of them, for blocklog_append_last() */
#define BLOCKLOG_FRAMES_LEAST (4 * BLOCKLOG_SPARE)

struct blocklog_buffer {
    const void *data;
    uint32_t bytes, slots;
    uint16_t cpu;
    int result;
    uint16_t flags; /* of its piece */
};

struct blocklog {
    const struct blocklog_disk *disk;
    struct blocklog_super super;
    uint64_t next;   /* the record that is written next */
    uint64_t oldest; /* the oldest that is kept */
    uint64_t begin, offset, lost;
    uint64_t bound[2]; /* on the medium; 0: not sound */
    bool recording;
    bool reclaims;        /* when it is full; set after blocklog_open() */
    bool may_be_there;    /* the record of several pieces that failed last */
    uint32_t passed_over; /* frames, since blocklog_open() */
    uint32_t tries;       /* that failed */
    /* Tells of a long scan; may be NULL. */
    void (*progress)(void *what, uint64_t done, uint64_t total);
    void *progress_what;
    struct blocklog_header header;
    uint8_t bounce[BLOCKLOG_SECTOR];
};

/* ---- both ends --------------------------------------------------------------------- */

/* Reads what the disk is and finds the newest record. progress and progress_what are set before. */
int blocklog_open(struct blocklog *log, const struct blocklog_disk *disk);
/* Record `sequence`, if it is between oldest and next: 0, -ENOENT it isn't there (passed over, or
 * its header is damaged), -EIO. */
int blocklog_header(struct blocklog *log, uint64_t sequence, struct blocklog_header *header);
/* True if it is a record's header, of whatever log and place; the same of what says what a
 * disk is. */
bool blocklog_header_is_sound(const struct blocklog_header *header);
bool blocklog_super_is_sound(const struct blocklog_super *super);
/* Frames that it takes: the next record may be so many further on. */
uint32_t blocklog_frames_of(const struct blocklog_header *header);
/* The data of its piece i, of that many, into room for BLOCKLOG_DATA_BYTES; *bytes of them.
 * -EBADMSG: damaged. */
int blocklog_data(struct blocklog *log, const struct blocklog_header *header, unsigned i,
                  void *data, uint32_t *bytes);

/* 1: captures are on the disk, or, if nothing at its ends says that it has a log, a sound record or
 * a sound sector that says so is anywhere on it; 0: none. -ENODEV. The log isn't open then. All of
 * the disk is read unless something is found: log->progress and progress_what are set before.
 * `room`: BLOCKLOG_DATA_BYTES, aligned for a header. */
int blocklog_holds_captures(struct blocklog *log, const struct blocklog_disk *disk, void *room);

/* ---- the writer -------------------------------------------------------------------- */

/* Makes an empty log of the disk and opens it: no header that is there can count, so none is read.
 * Its id: the one after the log's that is there, or `id` if there
 * is none. -ENOSPC: too small a disk. */
int blocklog_format(struct blocklog *log, const struct blocklog_disk *disk, uint64_t id);
/* A capture begins; `time` in seconds since 1970, 0: not known. */
int blocklog_begin(struct blocklog *log, const char *name, uint64_t time);
/* Its next bytes, at most BLOCKLOG_DATA_BYTES; 0: they are on the medium. */
int blocklog_append(struct blocklog *log, const void *data, uint32_t bytes, uint32_t slots,
                    uint16_t cpu);
/* Several, as one record if that can be; at most BLOCKLOG_TOGETHER. Each has its result, as above;
 * the slots of those that fail count as lost from the next record on. */
void blocklog_append_all(struct blocklog *log, struct blocklog_buffer *buffers, unsigned count);
/* The same on a full disk: what must be said before the end. BLOCKLOG_LAST such have a place. */
int blocklog_append_last(struct blocklog *log, const void *data, uint32_t bytes);
/* So many more slots of the capture are lost, which were not given to the log: the next record says
 * so. */
void blocklog_lose(struct blocklog *log, uint64_t slots);
int blocklog_end(struct blocklog *log);
/* Frees the oldest capture that isn't being recorded. -ENOENT: there is none. */
int blocklog_reclaim(struct blocklog *log);
/* Frames that data may still take. */
uint64_t blocklog_room(const struct blocklog *log);

#endif

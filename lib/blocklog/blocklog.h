/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures on a disk without a file system: a power cut at any write loses nothing that was
 * acknowledged. A log of records (layout.h): a record's data is written and flushed, then its
 * header is written and flushed, then it is acknowledged. So a valid header has its data, and an
 * invalid one was never acknowledged. Recovery searches the newest header, downwards from a bound
 * stored on the medium, or among all headers. Flushes take most of the time, so a record may hold
 * several buffers, which share the two.
 *
 * Several captures follow each other; none is overwritten unless blocklog_reclaim(), or `reclaims`,
 * was asked to free the oldest. A frame that can't be written after some tries is skipped: only its
 * number is missing. A failed flush may have dropped its data, so everything since the last
 * successful one is written again.
 *
 * One thread; no allocation. Functions return 0 or a negative errno: -EIO the medium, -ENODEV the
 * disk is gone, -ENOSPC the log is full, -EILSEQ no log is on the disk (or another version's),
 * -EFBIG the log is of a larger disk, -EINVAL wrong use. Tested by test/lib/blocklog: power cuts at
 * every write, torn and reordered; faults.
 */
#ifndef LIB_BLOCKLOG_BLOCKLOG_H
#define LIB_BLOCKLOG_BLOCKLOG_H

#include <stdbool.h>

#include "lib/blocklog/disk.h"
#include "lib/blocklog/layout.h"

#define BLOCKLOG_TRIES 3 /* of a write or flush, before its frame is skipped */
#define BLOCKLOG_SPARE 8 /* frames not used for data: for ends and reclaims */
#define BLOCKLOG_LAST 3  /* of them, for blocklog_append_last() */
#define BLOCKLOG_FRAMES_LEAST (4 * BLOCKLOG_SPARE)

struct blocklog_buffer {
    const void *data;
    uint32_t bytes, slots;
    uint16_t cpu;
    int result;
    uint16_t flags; /* of the current piece */
};

struct blocklog {
    const struct blocklog_disk *disk;
    struct blocklog_super super;
    uint64_t next;   /* number of the next record */
    uint64_t oldest; /* number of the oldest record kept */
    uint64_t begin, offset, lost;
    uint64_t bound[2]; /* on the medium; 0: invalid */
    bool recording;
    bool reclaims; /* reclaims when the log is full; set after blocklog_open() */
    /* whether the last failed record of several pieces may be on the medium */
    bool may_be_there;
    uint32_t passed_over; /* frames skipped since blocklog_open() */
    uint32_t tries;       /* number of failed tries */
    /* Reports progress of a long scan; may be NULL. */
    void (*progress)(void *what, uint64_t done, uint64_t total);
    void *progress_what;
    struct blocklog_header header;
    uint8_t bounce[BLOCKLOG_SECTOR];
};

/* ---- both ends --------------------------------------------------------------------- */

/* Reads the disk's description and finds the newest record. Set progress and progress_what
 * before. */
int blocklog_open(struct blocklog *log, const struct blocklog_disk *disk);
/* Reads the header of record `sequence`, between oldest and next. Returns 0, -ENOENT (skipped),
 * -EBADMSG (its header is damaged) or -EIO. */
int blocklog_header(struct blocklog *log, uint64_t sequence, struct blocklog_header *header);
/* Returns the first record from `at` on whose header's sector may be readable (disk.h); UINT64_MAX:
 * none of the next super.frames is. All loops over records go by it: a disk may claim more frames
 * than it has sectors. */
uint64_t blocklog_record_from(const struct blocklog *log, uint64_t at);
/* Return true for a valid record header, of any log and location; and likewise for a valid
 * description of a disk. */
bool blocklog_header_is_sound(const struct blocklog_header *header);
bool blocklog_super_is_sound(const struct blocklog_super *super);
/* Returns the version of a valid description that is later than BLOCKLOG_VERSION, else 0. */
uint32_t blocklog_super_is_later(const struct blocklog_super *super);
/* Returns the record's number of frames: the next record may be that far away. */
uint32_t blocklog_frames_of(const struct blocklog_header *header);
/* Reads the data of its piece i, into room for BLOCKLOG_DATA_BYTES; sets *bytes. -EBADMSG:
 * damaged. */
int blocklog_data(struct blocklog *log, const struct blocklog_header *header, unsigned i,
                  void *data, uint32_t *bytes);

/*
 * Returns 1 if there are captures on the disk, or a damaged record, or, if neither end describes a
 * log, a valid record or description anywhere on it; 0: none. -ENODEV. Does not open the log. Reads
 * the whole disk unless it finds something: set log->progress and progress_what before. `room`:
 * BLOCKLOG_DATA_BYTES, aligned for a header.
 */
int blocklog_holds_captures(struct blocklog *log, const struct blocklog_disk *disk, void *room);

/* ---- the writer -------------------------------------------------------------------- */

/* Makes an empty log of the disk and opens it, without reading old headers: none of them is valid
 * any more. Its id is the old log's id + 1, or `id` if there is none. -ENOSPC: too small a disk. */
int blocklog_format(struct blocklog *log, const struct blocklog_disk *disk, uint64_t id);
/* Begins a capture; `time` in seconds since 1970, 0: unknown. */
int blocklog_begin(struct blocklog *log, const char *name, uint64_t time);
/* Appends the capture's next bytes, at most BLOCKLOG_DATA_BYTES. Returns 0 when they are on the
 * medium. */
int blocklog_append(struct blocklog *log, const void *data, uint32_t bytes, uint32_t slots,
                    uint16_t cpu);
/* Appends several buffers, as one record if possible; at most BLOCKLOG_TOGETHER. Each gets its
 * result, as above; the next record counts the slots of failed ones as lost. */
void blocklog_append_all(struct blocklog *log, struct blocklog_buffer *buffers, unsigned count);
/* Like blocklog_append(), for final data on a full disk. There is room for BLOCKLOG_LAST of
 * them. */
int blocklog_append_last(struct blocklog *log, const void *data, uint32_t bytes);
/* Counts more slots of the capture as lost that were not given to the log: the next record reports
 * it. */
void blocklog_lose(struct blocklog *log, uint64_t slots);
int blocklog_end(struct blocklog *log);
/* Frees the oldest capture that isn't being recorded. -ENOENT: there is none. */
int blocklog_reclaim(struct blocklog *log);
/* Returns the frames available for data. */
uint64_t blocklog_room(const struct blocklog *log);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the block log's files. */
#ifndef LIB_BLOCKLOG_INTERNAL_H
#define LIB_BLOCKLOG_INTERNAL_H

#include "lib/blocklog/blocklog.h"
#include "lib/link/crc32c.h"

uint32_t blocklog_crc(const void *data, size_t bytes);
/* Sector of frame 0. */
uint64_t blocklog_first(const struct blocklog_super *super);
uint64_t blocklog_frame_sector(const struct blocklog_super *super, uint64_t sequence);
/* Reads the header in a frame, of any lap: 0, -ENOENT not valid, -EIO, -ENODEV. */
int blocklog_frame_header(struct blocklog *log, uint64_t frame, struct blocklog_header *header);
/* Finds the end and the beginning of the log: next and oldest. 0, -ENODEV. */
int blocklog_find_end(struct blocklog *log);
/* Sectors of the two bounds. */
uint64_t blocklog_bound_sector(const struct blocklog_super *super, unsigned i);
/* Reads the upper bound of all records' numbers, 0: unknown. -ENODEV. */
int blocklog_bound_read(struct blocklog *log, uint64_t *bound);
/* Makes sure that records before `after` may be written. Returns 0, or -EIO, -ENODEV: they may
 * not. */
int blocklog_bound_for(struct blocklog *log, uint64_t after);
void blocklog_header_begin(struct blocklog *log, uint16_t kind);
/* Commits log->header, begun as above, with this data; `leave`: frames that must stay free. For
 * several pieces, returns -EIO after the first try; they may nevertheless be on the medium. */
int blocklog_commit(struct blocklog *log, const struct blocklog_buffer *buffers, unsigned count,
                    uint64_t leave);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making room: a RECLAIM record says that everything before the next capture is gone. Only when
 * that record is on the medium may a frame before it be written, so a cut leaves the old captures
 * whole or gone, never half overwritten.
 */
#include <errno.h>

#include "lib/blocklog/internal.h"

/* Where the capture after the oldest one begins, or the first of its records that can be read;
 * next: there is none after it. */
static int second_begin(struct blocklog *log, uint64_t *begin)
{
    uint64_t at, first = 0;
    bool any = false;

    for (at = log->oldest; at < log->next; at++) {
        int result = blocklog_header(log, at, &log->header);

        if (result == -ENODEV) {
            return result;
        }
        if (result == 0 && log->header.kind != BLOCKLOG_RECLAIM) {
            if (any && log->header.begin != first) {
                break;
            }
            first = log->header.begin;
            any = true;
        }
    }
    *begin = at;
    return 0;
}

int blocklog_reclaim(struct blocklog *log)
{
    uint64_t begin, was = log->oldest;
    int result = second_begin(log, &begin);

    if (result != 0) {
        return result;
    }
    if (log->recording && begin > log->begin) {
        begin = log->begin; /* what was before it without a beginning */
    }
    if (begin == was) {
        return -ENOENT;
    }
    blocklog_header_begin(log, BLOCKLOG_RECLAIM);
    log->header.oldest = begin; /* log->oldest stays until that is on the medium */
    result = blocklog_commit(log, NULL, 0, 0);
    if (result == 0) {
        log->oldest = begin;
    }
    return result;
}

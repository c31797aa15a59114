/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frees space: a RECLAIM record deletes everything before the next capture. A frame before that
 * capture may be reused only when the record is on the medium, so after a power cut the old
 * captures are complete or deleted, never partly overwritten.
 */
#include <errno.h>

#include "lib/blocklog/internal.h"

/* Finds the first record from `at` up to before `after` that belongs to a capture and is readable,
 * in log->header; `after`: there is none. */
static int first_of_a_capture(struct blocklog *log, uint64_t *at, uint64_t after)
{
    int result = 0;

    for (; *at < after; ++*at) {
        result = blocklog_header(log, *at, &log->header);
        if (result == -ENODEV || (result == 0 && log->header.kind != BLOCKLOG_RECLAIM)) {
            return result;
        }
    }
    return 0;
}

/* Finds the beginning of the capture after the oldest one, or its first readable record; next:
 * there is none. Captures follow each other, so a binary search works. */
static int second_begin(struct blocklog *log, uint64_t *begin)
{
    uint64_t low = log->oldest, high = log->next;
    int result = first_of_a_capture(log, &low, high);
    uint64_t first = log->header.begin;

    while (result == 0 && low < high) {
        uint64_t middle = low + (high - low) / 2, at = middle;

        result = first_of_a_capture(log, &at, high);
        if (at < high && log->header.begin == first) {
            low = at + 1;
        } else {
            *begin = at < high ? at : *begin;
            high = middle;
        }
    }
    return result;
}

int blocklog_reclaim(struct blocklog *log)
{
    uint64_t begin = log->next, was = log->oldest;
    int result = second_begin(log, &begin);

    if (result != 0) {
        return result;
    }
    if (log->recording && begin > log->begin) {
        begin = log->begin; /* records before it without a beginning */
    }
    if (begin == was) {
        return -ENOENT;
    }
    blocklog_header_begin(log, BLOCKLOG_RECLAIM);
    log->header.oldest = begin; /* log->oldest changes only when that is on the medium */
    result = blocklog_commit(log, NULL, 0, 0);
    if (result == 0) {
        log->oldest = begin;
    }
    return result;
}

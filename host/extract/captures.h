/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The captures in a block log, for `kymo extract`: found from the headers alone, whatever state the
 * disk is in; then read, each byte checked. Missing, duplicate or damaged records lose only their
 * own content, and are counted. test/lib/blocklog reads every image it makes with this.
 */
#ifndef HOST_EXTRACT_CAPTURES_H
#define HOST_EXTRACT_CAPTURES_H

#include <stddef.h>

#include "lib/blocklog/blocklog.h"

struct extract_capture {
    uint64_t first, after; /* records from `first` up to before `after` */
    uint64_t begin;        /* what its records call it */
    uint64_t time;         /* seconds since 1970, 0: not known */
    uint64_t bytes;        /* of it that are there */
    uint64_t trailers;     /* bytes of CHECKs and BUFFER_ENDs, which the disk does not hold */
    uint64_t size;         /* that it had when it ended, or as far as is known */
    uint64_t slots;        /* that are there */
    uint64_t lost;         /* slots that the target says it could not write */
    uint64_t damaged;      /* bytes that are there but not as they were; once it was read */
    bool whole;            /* it was ended; else a cut, a crash, or it is being recorded */
    char name[BLOCKLOG_NAME];
};

struct extract_list {
    struct extract_capture *capture;
    size_t count;
    uint64_t absent;  /* records passed over */
    uint64_t between; /* of those, and of the unreadable ones, the most in a row between captures:
                         there may have been one */
    uint64_t unreadable; /* headers that the medium did not give */
    uint64_t damaged;    /* records whose header is, each of at least one frame */
};

/* 0, or -ENOMEM, -ENODEV. Then extract_list_free(). */
int extract_list(struct blocklog *log, struct extract_list *list);
void extract_list_free(struct extract_list *list);
/* Gives the capture's bytes, each buffer's CHECK and BUFFER_END after it, in order to `take`,
 * which returns 0, or -1 to end; damaged records of which there is no sound copy are left out and
 * counted. 0, or -1: `take` has ended it, or a negative errno of the disk's. */
int extract_read(struct blocklog *log, struct extract_capture *capture,
                 int (*take)(void *context, const void *data, size_t bytes), void *context);

#endif

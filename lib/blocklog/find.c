/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the end of the log: behind the record with the highest number. With a bound, which is on
 * the medium before any record it must cover, this is the first valid header downwards from it: all
 * above were read, or can't exist. Without one all headers are read. Both methods find the same
 * whatever the disk has lost: test/blocklog/find_test.c.
 */
#include <errno.h>

#include "lib/blocklog/internal.h"

/* Behind the newest header there may be newer, unreadable ones: they are kept. */
static void step_over_unreadable(struct blocklog *log)
{
    for (int i = 0; i < BLOCKLOG_SPARE && log->next - log->oldest < log->super.frames; i++) {
        uint64_t frame = log->next % log->super.frames;

        if (blocklog_frame_header(log, frame, &log->header) != -EIO) {
            break;
        }
        log->next++;
    }
}

/* log->header is the newest so far. */
static void take_newest(struct blocklog *log)
{
    log->next = log->header.sequence + blocklog_frames_of(&log->header);
    log->oldest = log->header.oldest;
}

/* known: the newest was found, or there is none. A header above the bound ends the search. */
static int look_below(struct blocklog *log, uint64_t bound, bool *known)
{
    uint64_t frames = log->super.frames;
    uint64_t lowest = bound > frames ? bound - frames : 0;

    for (uint64_t at = bound; at > lowest; at--) {
        int result = blocklog_frame_header(log, (at - 1) % frames, &log->header);

        if (result == -ENODEV) {
            return result;
        }
        if (result == 0 && log->header.sequence >= at - 1) {
            *known = log->header.sequence == at - 1;
            if (*known) {
                take_newest(log);
            }
            return 0;
        }
    }
    *known = lowest == 0;
    return 0;
}

static int look_at_all(struct blocklog *log)
{
    bool found = false;

    for (uint64_t frame = 0; frame < log->super.frames; frame++) {
        int result = blocklog_frame_header(log, frame, &log->header);

        if (result == -ENODEV) {
            return result;
        }
        if (result == 0 && (!found || log->header.sequence >= log->next)) {
            found = true;
            take_newest(log);
        }
        if (log->progress && frame % 1024 == 0) {
            log->progress(log->progress_what, frame, log->super.frames);
        }
    }
    return 0;
}

int blocklog_find_end(struct blocklog *log)
{
    uint64_t bound;
    bool known = false;
    int result = blocklog_bound_read(log, &bound);

    if (result == 0 && bound != 0) {
        result = look_below(log, bound, &known);
    }
    if (result == 0 && !known) {
        result = look_at_all(log);
    }
    if (result != 0) {
        return result;
    }
    /* Older laps are overwritten whatever a header says. */
    if (log->next - log->oldest > log->super.frames) {
        log->oldest = log->next - log->super.frames;
    }
    step_over_unreadable(log);
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The levels that a page has instead of the events of a capture that is too large for a browser:
 * for each thread and CPU the shares of running, READY and not known in equal stretches of time,
 * and the other state that lasted longest there. A share above nothing is never rounded to nothing.
 * Memory: 4 bytes for a stretch of a lane, 64 MB at most. Proof: test/host/report/check.py, which
 * compares them with the states of the whole page.
 */
#include <stdlib.h>

#include "host/report/report.h"

#define CELLS_MOST ((uint64_t)16 << 20)
#define BINS_MOST 16384
#define BINS_LEAST 16
#define REST_ROWS 65536

enum { SHARE_RUN, SHARE_READY, SHARE_UNKNOWN, SHARES };

/* The sums of the stretch that a lane is in. */
struct sum {
    uint32_t bin;
    uint8_t state;
    int64_t longest; /* of `state` */
    int64_t ns[SHARES];
};

struct levels {
    const struct timeline *timeline;
    uint32_t lanes, bins;
    int64_t width;   /* ns of a stretch */
    uint32_t *cells; /* shares of 255 in the low three bytes, then the state */
    struct sum *sums;
};

/* Rounded up. */
static uint32_t share_of(int64_t ns, int64_t width)
{
    int64_t share = (int64_t)(((__int128)ns * 255 + width - 1) / width);

    return share > 255 ? 255 : (uint32_t)share;
}

static void sum_end(struct levels *levels, uint32_t lane)
{
    struct sum *sum = &levels->sums[lane];
    uint32_t cell = (uint32_t)sum->state << 24;

    for (unsigned i = 0; i < SHARES; i++) {
        cell |= share_of(sum->ns[i], levels->width) << 8 * i;
        sum->ns[i] = 0;
    }
    levels->cells[(size_t)lane * levels->bins + sum->bin] = cell;
    sum->state = 0;
    sum->longest = 0;
}

/* A lane's times come in order. `share`: SHARES if it is of another state. */
static void report_levels_time_add(struct levels *levels, uint32_t lane, unsigned share,
                                   unsigned state, int64_t from, int64_t to)
{
    const struct timeline *timeline = levels->timeline;
    struct sum *sum = &levels->sums[lane];

    from = from > timeline->from ? from : timeline->from;
    to = to < timeline->to ? to : timeline->to;
    while (from < to) {
        uint64_t at = (uint64_t)from - (uint64_t)timeline->from;
        uint32_t bin = (uint32_t)(at / (uint64_t)levels->width);
        uint64_t left = (uint64_t)(bin + 1) * (uint64_t)levels->width - at;
        int64_t until = left < (uint64_t)to - (uint64_t)from ? from + (int64_t)left : to;

        if (bin != sum->bin) {
            sum_end(levels, lane);
            sum->bin = bin;
        }
        if (share < SHARES) {
            sum->ns[share] += until - from;
        } else if (until - from > sum->longest) {
            sum->longest = until - from;
            sum->state = (uint8_t)state;
        }
        from = until;
    }
}

static void spans_add(struct levels *levels)
{
    const struct timeline *timeline = levels->timeline;

    for (uint32_t i = 0; i < timeline->nspans; i++) {
        const struct timeline_span *span = &timeline->spans[i];
        unsigned share = span->state == STATE_RUNNING      ? SHARE_RUN
                         : span->state == STATE_READY      ? SHARE_READY
                         : span->state == TIMELINE_UNKNOWN ? SHARE_UNKNOWN
                                                           : SHARES;

        report_levels_time_add(levels, span->thread, share, span->state, span->from, span->to);
        if (i % REST_ROWS == 0) {
            timeline_rest(timeline);
        }
    }
}

/* A CPU's READY is the time of its idle thread; between its runs nothing is known. */
static void runs_add(struct levels *levels, unsigned cpu)
{
    const struct timeline *timeline = levels->timeline;
    uint32_t lane = timeline->nthreads + cpu;
    int64_t done = timeline->from;

    for (uint32_t i = timeline->cpu_first[cpu]; i < timeline->cpu_first[cpu + 1]; i++) {
        const struct timeline_span *run = &timeline->spans[timeline->by_cpu[i]];

        report_levels_time_add(levels, lane, SHARE_UNKNOWN, 0, done, run->from);
        report_levels_time_add(levels, lane,
                               timeline->threads[run->thread].idle ? SHARE_READY : SHARE_RUN, 0,
                               run->from, run->to);
        done = run->to > done ? run->to : done;
        if (i % REST_ROWS == 0) {
            timeline_rest(timeline);
        }
    }
    report_levels_time_add(levels, lane, SHARE_UNKNOWN, 0, done, timeline->to);
}

bool levels_write(const struct timeline *timeline, struct pack *pack, struct bytes *json)
{
    struct levels levels = {.timeline = timeline, .lanes = timeline->nthreads + timeline->cpus};
    uint64_t length = timeline->to > timeline->from
                          ? (uint64_t)timeline->to - (uint64_t)timeline->from
                          : 1; /* all of an int64_t, if a clock was broken */
    uint64_t bins = CELLS_MOST / (levels.lanes + 1);
    struct bytes payload = {0};

    bins = bins > BINS_MOST ? BINS_MOST : bins < BINS_LEAST ? BINS_LEAST : bins;
    bins = bins > length ? length : bins;
    levels.bins = (uint32_t)bins;
    levels.width = (int64_t)(length / bins + (length % bins != 0));
    levels.cells = calloc((size_t)levels.lanes * levels.bins + 1, sizeof(*levels.cells));
    levels.sums = calloc((size_t)levels.lanes + 1, sizeof(*levels.sums));
    if (levels.cells != NULL && levels.sums != NULL) {
        spans_add(&levels);
        for (unsigned cpu = 0; cpu < timeline->cpus; cpu++) {
            runs_add(&levels, cpu);
        }
        for (uint32_t lane = 0; lane < levels.lanes; lane++) {
            sum_end(&levels, lane);
            bytes_planes(&payload, &levels.cells[(size_t)lane * levels.bins], levels.bins, 4);
            pack_block(pack, "levels", levels.bins, &payload);
        }
        bytes_text(json, "\"levels\":{\"from\":");
        bytes_number(json, timeline->from);
        bytes_text(json, ",\"width\":");
        bytes_number(json, levels.width);
        bytes_text(json, ",\"bins\":");
        bytes_number(json, levels.bins);
        bytes_text(json, "},\n");
    }
    bytes_free(&payload);
    bool good = levels.cells != NULL && levels.sums != NULL;
    free(levels.cells);
    free(levels.sums);
    return good;
}

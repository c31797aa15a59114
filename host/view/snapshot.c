/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture that can be asked for any window of it. The blocks of events, of their values and of
 * the account (host/report/usage.c) are in a file without a name, deflated; the timeline is in
 * files of its own. What is drawn is made of the timeline for each window. Memory: 64 bytes for a
 * block, and what the tables and levels of a page have (host/report/).
 *
 * An answer is blocks, each a line "NAME ROWS BYTES LENGTH", then LENGTH deflated bytes, BYTES
 * before (docs/reference/report-data.md).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/temporary.h"
#include "host/verify/verify.h"
#include "host/view/view.h"

struct kept { /* a block in the file */
    char name[16];
    uint64_t rows, bytes, offset, length;
    int64_t from, to;
};

struct snapshot {
    struct report report;
    int fd;
    uint64_t used; /* bytes of the file */
    struct kept *blocks;
    uint32_t nblocks, room;
    uint32_t *events; /* blocks of events, the one of their values after each; by time */
    uint32_t nevents, events_room;
    bool said; /* why it failed */
};

static bool view_snapshot_is_named(const struct kept *block, const char *name)
{
    return strcmp(block->name, name) == 0;
}

static bool view_snapshot_write_all(int fd, const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        ssize_t n = write(fd, bytes, count);

        if (n < 0 && errno != EINTR) {
            return false;
        }
        bytes += n > 0 ? n : 0;
        count -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool block_keep(void *arg, const struct pack_block *block)
{
    struct snapshot *snapshot = arg;
    struct kept *kept;

    if (snapshot->nblocks == snapshot->room) {
        uint32_t room = 2 * snapshot->room + 256;
        struct kept *blocks = realloc(snapshot->blocks, room * sizeof(*blocks));
        uint32_t *events =
            blocks == NULL ? NULL : realloc(snapshot->events, room * sizeof(*events));

        snapshot->blocks = blocks == NULL ? snapshot->blocks : blocks;
        snapshot->events = events == NULL ? snapshot->events : events;
        if (events == NULL) {
            return false;
        }
        snapshot->room = room;
    }
    if (!view_snapshot_write_all(snapshot->fd, block->deflated, block->length)) {
        if (!snapshot->said) {
            kymo_error("%s: cannot keep its blocks in %s: %s; TMPDIR names another folder",
                       snapshot->report.input, temporary_place(), strerror(errno));
        }
        snapshot->said = true;
        return false;
    }
    kept = &snapshot->blocks[snapshot->nblocks];
    *kept = (struct kept){.rows = block->rows,
                          .bytes = block->bytes,
                          .offset = snapshot->used,
                          .length = block->length,
                          .from = block->from,
                          .to = block->to};
    snprintf(kept->name, sizeof(kept->name), "%s", block->name);
    if (view_snapshot_is_named(kept, "events")) {
        snapshot->events[snapshot->nevents++] = snapshot->nblocks;
    }
    snapshot->nblocks++;
    snapshot->used += block->length;
    return true;
}

struct snapshot *snapshot_new(const struct report *report)
{
    struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
    bool good = snapshot != NULL;
    int outcome;

    if (!good || (snapshot->fd = temporary_open()) < 0) {
        kymo_error("%s: %s", report->input, strerror(errno));
        free(snapshot);
        return NULL;
    }
    snapshot->report = *report;
    snapshot->report.has_events = snapshot->report.is_kept = true;
    snapshot->report.pack.sink = block_keep;
    snapshot->report.pack.sink_arg = snapshot;
    if (report_open(&snapshot->report) != KYMO_OK) {
        snapshot_free(snapshot);
        return NULL;
    }
    outcome = report_blocks(&snapshot->report, &good);
    kymo_progress_end();
    if (outcome == KEV_FAILED || !good || snapshot->report.pack.failed) {
        if (!report->grows && !snapshot->said) {
            kymo_error("%s", snapshot->report.fault[0] != '\0' ? snapshot->report.fault
                                                               : "out of memory");
        }
        snapshot_free(snapshot);
        return NULL;
    }
    if (!report->grows) {
        verify_end_capture(snapshot->report.capture, outcome, true);
    }
    return snapshot;
}

void snapshot_free(struct snapshot *snapshot)
{
    if (snapshot != NULL) {
        report_close(&snapshot->report);
        close(snapshot->fd);
        free(snapshot->blocks);
        free(snapshot->events);
        free(snapshot);
    }
}

uint64_t snapshot_events(const struct snapshot *snapshot)
{
    return snapshot->report.nevents;
}

/* ---- answers ----------------------------------------------------------------------- */

static bool block_answer(void *arg, const struct pack_block *block)
{
    struct bytes *answer = arg;
    char head[128];

    snprintf(head, sizeof(head), "%s %" PRIu64 " %" PRIu64 " %zu\n", block->name, block->rows,
             block->bytes, block->length);
    bytes_text(answer, head);
    bytes_put(answer, block->deflated, block->length);
    return !answer->failed;
}

static bool kept_answer(const struct snapshot *snapshot, const struct kept *kept,
                        struct bytes *answer)
{
    uint8_t *bytes = malloc(kept->length + 1);
    bool good = bytes != NULL && pread(snapshot->fd, bytes, kept->length, (off_t)kept->offset) ==
                                     (ssize_t)kept->length;
    const struct pack_block block = {.name = kept->name,
                                     .rows = kept->rows,
                                     .bytes = kept->bytes,
                                     .deflated = bytes,
                                     .length = kept->length};

    good = good && block_answer(answer, &block);
    free(bytes);
    return good;
}

/* Blocks of events of a part. */
static uint32_t part_most(const struct snapshot *snapshot)
{
    return (uint32_t)(snapshot->report.whole_most / (2 * REPORT_ROWS));
}

static void served_begin(const struct snapshot *snapshot, uint64_t generation,
                         struct bytes *members)
{
    bytes_text(members, ",\n\"served\":{\"generation\":");
    bytes_number(members, (int64_t)generation);
    bytes_text(members, ",\"most\":");
    bytes_number(members, part_most(snapshot));
    bytes_text(members, ",\"levels\":");
    bytes_text(members, snapshot->report.levels ? "true" : "false");
}

static bool tables_answer(struct snapshot *snapshot, struct pack *pack, struct bytes *members)
{
    bytes_text(members, "}");
    bytes_put(members, "", 1);
    if (!members->failed) {
        report_tables(&snapshot->report, pack, (const char *)members->data);
    }
    return !members->failed && !pack->failed;
}

static const struct kept *view_snapshot_block_of(const struct snapshot *snapshot, uint32_t n)
{
    return &snapshot->blocks[snapshot->events[n]];
}

/* The blocks of events from `first` on, what the account has of their time, and what is drawn. */
static bool window_answer(struct snapshot *snapshot, uint64_t generation, uint32_t first,
                          uint32_t count, struct bytes *answer)
{
    struct report *report = &snapshot->report;
    struct pack own = {.sink = block_answer, .sink_arg = answer}, kept = report->pack;
    struct report_window window = window_whole(report->timeline);
    struct bytes members = {0};
    int64_t from = report->first, to = report->last;
    bool good = true, whole = count == snapshot->nevents;

    if (!whole) {
        /* Some events of the same time may be in the previous or the next block: not that time. */
        from = view_snapshot_block_of(snapshot, first)->from;
        from += first > 0 && view_snapshot_block_of(snapshot, first - 1)->to == from;
        to = view_snapshot_block_of(snapshot, first + count - 1)->to;
        to -= first + count < snapshot->nevents &&
              view_snapshot_block_of(snapshot, first + count)->from == to;
        good = window_find(&window, report->timeline, report->reach, from, to);
    }
    for (uint32_t i = 0; good && i < count; i++) {
        const struct kept *events = &snapshot->blocks[snapshot->events[first + i]];

        good = kept_answer(snapshot, events, answer) && kept_answer(snapshot, events + 1, answer);
    }
    for (uint32_t i = 0; good && i < snapshot->nblocks; i++) {
        const struct kept *block = &snapshot->blocks[i];
        bool timed = !view_snapshot_is_named(block, "aggregations");

        if (!view_snapshot_is_named(block, "events") && !view_snapshot_is_named(block, "values") &&
            !view_snapshot_is_named(block, "levels") &&
            (!timed || (block->from <= to && block->to >= from))) {
            good = kept_answer(snapshot, block, answer);
        }
    }
    if (good) {
        report->pack = own;
        good = lanes_write(report->lanes, report->timeline, &window) && !report->pack.failed;
        served_begin(snapshot, generation, &members);
        bytes_text(&members, ",\"from\":");
        bytes_number(&members, from);
        bytes_text(&members, ",\"to\":");
        bytes_number(&members, to);
        good = good && tables_answer(snapshot, &report->pack, &members);
        pack_free(&report->pack);
        report->pack = kept;
    }
    if (!whole) {
        window_free(&window);
    }
    bytes_free(&members);
    timeline_rest(report->timeline);
    return good;
}

bool snapshot_whole(struct snapshot *snapshot, uint64_t generation, struct bytes *answer)
{
    struct pack pack = {.sink = block_answer, .sink_arg = answer};
    struct bytes members = {0};
    bool good = true;

    if (!snapshot->report.levels) {
        return window_answer(snapshot, generation, 0, snapshot->nevents, answer);
    }
    for (uint32_t i = 0; good && i < snapshot->nblocks; i++) {
        good = !view_snapshot_is_named(&snapshot->blocks[i], "levels") ||
               kept_answer(snapshot, &snapshot->blocks[i], answer);
    }
    served_begin(snapshot, generation, &members);
    bytes_text(&members, ",\"blocks\":[");
    for (uint32_t i = 0; i < snapshot->nevents; i++) {
        const struct kept *block = &snapshot->blocks[snapshot->events[i]];

        bytes_text(&members, i == 0 ? "" : ",");
        bytes_number(&members, block->from);
    }
    bytes_text(&members, "]");
    good = good && tables_answer(snapshot, &pack, &members);
    pack_free(&pack);
    bytes_free(&members);
    return good;
}

enum snapshot_outcome snapshot_part(struct snapshot *snapshot, uint64_t generation, int64_t from,
                                    int64_t to, struct bytes *answer)
{
    uint32_t first = 0, last;

    while (first + 1 < snapshot->nevents && snapshot->blocks[snapshot->events[first]].to < from) {
        first++;
    }
    for (last = first;
         last + 1 < snapshot->nevents && snapshot->blocks[snapshot->events[last + 1]].from <= to;
         last++) {
    }
    if (snapshot->nevents > 0 && last - first >= part_most(snapshot)) {
        return SNAPSHOT_TOO_MUCH;
    }
    return window_answer(snapshot, generation, first, snapshot->nevents > 0 ? last - first + 1 : 0,
                         answer)
               ? SNAPSHOT_GIVEN
               : SNAPSHOT_FAILED;
}

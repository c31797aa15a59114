/* SPDX-License-Identifier: BSD-2-Clause */
/* See out.h. */
#include "host/extract/out.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/kymo.h"
#include "host/name.h"
#include "host/output.h"

static uint64_t lost_bytes(const struct extract_capture *capture)
{
    return capture->size - capture->bytes + capture->damaged;
}

/* A board without a clock counts from 1970. */
static const char *extract_date_text(uint64_t seconds, char text[32])
{
    time_t when = (time_t)seconds;
    struct tm parts;

    if (seconds < BLOCKLOG_TIME_LEAST || !gmtime_r(&when, &parts)) {
        return "no clock";
    }
    strftime(text, 32, "%Y-%m-%d %H:%M:%S", &parts);
    return text;
}

/* The capture has only its beginning: it wasn't acknowledged, or the logger ended before a buffer.
 * */
static bool extract_capture_is_empty(const struct extract_capture *capture)
{
    return !capture->whole && capture->size == 0;
}

static const char *extract_state_text(const struct extract_capture *capture)
{
    return capture->whole ? "whole" : extract_capture_is_empty(capture) ? "empty" : "cut";
}

static void list_line(const struct extract_capture *capture, size_t number)
{
    char when[32], name[KYMO_NAME_MOST];

    kymo_plain_name(capture->name, strlen(capture->name), name);
    printf("%3zu  %-19s  %12" PRIu64 "  %10" PRIu64 "  %10" PRIu64 "  %-5s  %s\n", number,
           extract_date_text(capture->time, when), capture->bytes + capture->trailers,
           capture->slots, capture->lost, extract_state_text(capture), name);
}

int extract_print_list(const struct extract *extract)
{
    printf("%3s  %-19s  %12s  %10s  %10s  %-5s  %s\n", "", "begun (UTC)", "bytes", "slots",
           "slots lost", "", "name");
    for (size_t i = 0; i < extract->found.count; i++) {
        list_line(&extract->found.capture[i], i + 1);
    }
    printf("room for %" PRIu64 " more buffers of 16 KB\n", blocklog_room(&extract->log));
    return KYMO_OK;
}

struct writing {
    struct output output;
    uint64_t done, total;
    const char *path;
};

static int extract_take_bytes(void *context, const void *data, size_t bytes)
{
    struct writing *writing = context;

    if (output_write(&writing->output, data, bytes) != 0) {
        return -1;
    }
    writing->done += bytes;
    kymo_progress((void *)(uintptr_t)writing->path, writing->done, writing->total);
    return 0;
}

/* Reports missing data; the available data is in the file anyway. */
static int extract_report_missing(const struct extract_capture *capture, const char *path)
{
    uint64_t missing = lost_bytes(capture);

    if (missing > 0) {
        kymo_error("%s: INCOMPLETE: %" PRIu64 " bytes are damaged or were not written", path,
                   missing);
    }
    if (capture->lost > 0) {
        kymo_error("%s: the target could not write %" PRIu64 " slots", path, capture->lost);
    }
    if (!capture->whole) {
        kymo_error("%s: the capture has no end: it is whole up to where it was cut", path);
    }
    return missing > 0 ? KYMO_FAILURE : KYMO_OK;
}

/* Its name has been taken: by what was extracted before, or by somebody else's file. */
static int extract_report_taken(struct output *output, const char *path)
{
    bool same = output_is_same(output);

    output_abandon(output);
    if (same) {
        printf("%s: is already there, identical\n", path);
        return KYMO_OK;
    }
    kymo_error("%s: a different file of that name exists: --force replaces it", path);
    return KYMO_FAILURE;
}

static int write_capture(struct extract *extract, struct extract_capture *capture, const char *path)
{
    enum output_policy policy = extract->force    ? OUTPUT_FORCE
                                : extract->output ? OUTPUT_NEW
                                                  : OUTPUT_LATER;
    struct writing writing = {.total = capture->bytes + capture->trailers, .path = path};

    if (output_open(&writing.output, path, policy) != 0) {
        return KYMO_FAILURE;
    }
    int result = extract_read(&extract->log, capture, extract_take_bytes, &writing);
    kymo_progress_end();
    if (result < -1) {
        kymo_error("%s: %s", extract->path, strerror(-result));
        output_abandon(&writing.output);
        return KYMO_FAILURE;
    }
    result = output_try_commit(&writing.output);
    if (result == -EEXIST) {
        return extract_report_taken(&writing.output, path);
    }
    if (result != 0) {
        return KYMO_FAILURE;
    }
    if (strcmp(path, "-") != 0) {
        printf("%s: %" PRIu64 " bytes, %" PRIu64 " slots\n", path, writing.done, capture->slots);
    }
    return extract_report_missing(capture, path);
}

/* ---- names ------------------------------------------------------------------------- */

struct beginning {
    char text[4096];
    size_t bytes;
};

static int take_beginning(void *context, const void *data, size_t bytes)
{
    struct beginning *beginning = context;
    size_t room = sizeof(beginning->text) - 1 - beginning->bytes;

    memcpy(beginning->text + beginning->bytes, data, bytes < room ? bytes : room);
    beginning->bytes += bytes < room ? bytes : room;
    return bytes < room ? 0 : -1;
}

/* The board's name and a '-'; nothing if the capture's first attributes don't have it. */
static void board_of(struct extract *extract, struct extract_capture *capture, char board[40])
{
    static const char key[] = "TRACE_NODENAME::";
    struct beginning beginning = {.bytes = 0};
    size_t n = 0;

    extract_read(&extract->log, capture, take_beginning, &beginning);
    for (size_t i = 0; i < beginning.bytes; i++) {
        beginning.text[i] = beginning.text[i] ? beginning.text[i] : ' ';
    }
    const char *at = strstr(beginning.text, key);
    const char *end = at ? strstr(at + strlen(key), "TRACE_") : NULL;

    for (at = end ? at + strlen(key) : NULL; at && at < end && n < 32; at++) {
        bool plain = (*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z') ||
                     (*at >= 'a' && *at <= 'z') || *at == '-' || *at == '.';

        board[n++] = plain ? *at : '_';
    }
    strcpy(board + n, n ? "-" : "");
}

/* Identifies a capture: the board, its start if the board had a clock, the disk's log and the
 * record in it. The tag is unique, however often the disk is reclaimed or formatted. */
static void tag_of(struct extract *extract, struct extract_capture *capture,
                   char tag[KYMO_TAG_MOST])
{
    uint64_t id = extract->log.super.id;
    time_t when = (time_t)capture->time;
    char board[40], clock[32] = "";
    struct tm parts;

    board_of(extract, capture, board);
    if (capture->time >= BLOCKLOG_TIME_LEAST && gmtime_r(&when, &parts)) {
        strftime(clock, sizeof(clock), "%Y%m%dT%H%M%SZ-", &parts);
    }
    snprintf(tag, KYMO_TAG_MOST, "%s%s%08" PRIx32 "-%" PRIu64, board, clock,
             (uint32_t)(id ^ id >> 32), capture->begin);
}

/* trace.kev that a board called virt-a64 began with record 42:
 * FOLDER/trace-virt-a64-7f3a12c4-42.kev */
static char *extract_capture_path(struct extract *extract, size_t number)
{
    struct extract_capture *capture = &extract->found.capture[number - 1];
    char plain[KYMO_NAME_MOST], tag[KYMO_TAG_MOST], name[KYMO_NAME_MOST], *path = NULL;

    if (extract->output) {
        return strdup(extract->output);
    }
    kymo_plain_name(capture->name, strlen(capture->name), plain);
    tag_of(extract, capture, tag);
    kymo_tagged_name(plain, tag, name);
    if (asprintf(&path, "%s%s%s", extract->folder ? extract->folder : "",
                 extract->folder ? "/" : "", name) < 0) {
        path = NULL;
    }
    return path;
}

int extract_write(struct extract *extract)
{
    size_t first = extract->number ? extract->number : 1;
    size_t last = extract->number ? extract->number : extract->found.count;
    int status = KYMO_OK;

    for (size_t i = first; i <= last; i++) {
        char *path = extract_capture_path(extract, i);

        if (path && extract_capture_is_empty(&extract->found.capture[i - 1])) {
            kymo_error("%s: capture %zu is empty: nothing but its beginning was written", path, i);
            status = extract->number ? KYMO_FAILURE : status;
            free(path);
            continue;
        }
        if (!path) {
            kymo_error("%s", strerror(ENOMEM));
            return KYMO_FAILURE;
        }
        if (write_capture(extract, &extract->found.capture[i - 1], path) != KYMO_OK) {
            status = KYMO_FAILURE;
        }
        free(path);
    }
    return status;
}

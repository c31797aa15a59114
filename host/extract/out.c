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

static uint64_t lost_bytes(const struct extract_capture *capture)
{
    return capture->size - capture->bytes + capture->damaged;
}

/* A board without a clock counts from 1970. */
static const char *date(uint64_t seconds, char text[32])
{
    time_t when = (time_t)seconds;
    struct tm parts;

    if (seconds < BLOCKLOG_TIME_LEAST || !gmtime_r(&when, &parts)) {
        return "no clock";
    }
    strftime(text, 32, "%Y-%m-%d %H:%M:%S", &parts);
    return text;
}

/* Only its beginning is there: it wasn't acknowledged, or the logger ended before a buffer. */
static bool is_empty(const struct extract_capture *capture)
{
    return !capture->whole && capture->size == 0;
}

static const char *state(const struct extract_capture *capture)
{
    return capture->whole ? "whole" : is_empty(capture) ? "empty" : "cut";
}

static void list_line(const struct extract_capture *capture, size_t number)
{
    char when[32], name[KYMO_NAME_MOST];

    kymo_plain_name(capture->name, strlen(capture->name), name);
    printf("%3zu  %-19s  %12" PRIu64 "  %10" PRIu64 "  %10" PRIu64 "  %-5s  %s\n", number,
           date(capture->time, when), capture->bytes, capture->slots, capture->lost, state(capture),
           name);
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
    FILE *file;
    int error;
    uint64_t done, total;
    const char *path;
};

static int take(void *context, const void *data, size_t bytes)
{
    struct writing *writing = context;

    if (fwrite(data, 1, bytes, writing->file) != bytes) {
        writing->error = errno ? errno : EIO;
        return -1;
    }
    writing->done += bytes;
    kymo_progress((void *)(uintptr_t)writing->path, writing->done, writing->total);
    return 0;
}

/* What is missing is said; what is there is in the file all the same. */
static int account(const struct extract_capture *capture, const char *path)
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

static int write_capture(struct extract *extract, struct extract_capture *capture, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    struct writing writing = {
        .file = standard ? stdout : fopen(path, "wb"), .total = capture->bytes, .path = path};

    if (!writing.file) {
        kymo_error("%s: %s", path, strerror(errno));
        return KYMO_FAILURE;
    }
    int result = extract_read(&extract->log, capture, take, &writing);
    kymo_progress_end();
    if ((standard ? fflush(stdout) : fclose(writing.file)) != 0 && result == 0) {
        writing.error = errno;
        result = -1;
    }
    if (result != 0) {
        kymo_error("%s: %s", result == -1 ? path : extract->path,
                   strerror(result == -1 ? writing.error : -result));
        return KYMO_FAILURE;
    }
    if (!standard) {
        printf("%s: %" PRIu64 " bytes, %" PRIu64 " slots\n", path, writing.done, capture->slots);
    }
    return account(capture, path);
}

/* trace.kev of capture 3: FOLDER/trace-3.kev */
static char *path_of(const struct extract *extract, size_t number)
{
    char name[KYMO_NAME_MOST], *path = NULL;
    const char *stored = extract->found.capture[number - 1].name;

    if (extract->output) {
        return strdup(extract->output);
    }
    kymo_plain_name(stored, strlen(stored), name);
    char *dot = strrchr(name, '.');
    int stem = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    if (asprintf(&path, "%s%s%.*s-%zu%s", extract->folder ? extract->folder : "",
                 extract->folder ? "/" : "", stem, name, number, name + stem) < 0) {
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
        char *path = path_of(extract, i);

        if (path && is_empty(&extract->found.capture[i - 1])) {
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

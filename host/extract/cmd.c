/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo extract: the captures on a disk that a target's tracelogger has written (-f block:NAME), as
 * the files that it would have written elsewhere. Every byte is checked on the way.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/extract/captures.h"
#include "host/extract/disk.h"
#include "host/kymo.h"
#include "host/name.h"

static const char extract_help[] =
    "Usage: kymo extract [--list] [-n NUMBER] [-o FILE | -d FOLDER] DISK\n"
    "\n"
    "Takes the captures off a disk that a target has written them to (tracelogger -f\n"
    "block:NAME), whole or cut off by a power failure. DISK is the disk, or an image of\n"
    "it, not written to. Without -n all captures: trace.kev becomes trace-1.kev, ...\n"
    "\n"
    "  -l, --list     only say what is there, from the headers: the data isn't read\n"
    "  -n NUMBER      only this capture; 1 is the oldest\n"
    "  -o FILE        where it goes (- is standard output); with -n, or if there is one\n"
    "  -d FOLDER      where the files go (default: here)\n"
    "  -h, --help     this text\n"
    "\n"
    "Exit status: 0 all is there; 1 not all, or no such capture; 2 wrong usage.\n";

static const struct option extract_options[] = {
    {"list", no_argument, NULL, 'l'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct extract {
    const char *path, *output, *folder;
    bool list;
    size_t number; /* 0: all */
    struct blocklog log;
    struct extract_list found;
};

static uint64_t lost_bytes(const struct extract_capture *capture)
{
    return capture->size - capture->bytes + capture->damaged;
}

static const char *date(uint64_t seconds, char text[32])
{
    time_t when = (time_t)seconds;
    struct tm parts;

    if (seconds == 0 || !gmtime_r(&when, &parts)) {
        return "-";
    }
    strftime(text, 32, "%Y-%m-%d %H:%M:%S", &parts);
    return text;
}

static void list_line(const struct extract_capture *capture, size_t number)
{
    char when[32], name[KYMO_NAME_MOST];

    kymo_plain_name(capture->name, strlen(capture->name), name);
    printf("%3zu  %-19s  %12" PRIu64 "  %10" PRIu64 "  %10" PRIu64 "  %-5s  %s\n", number,
           date(capture->time, when), capture->bytes, capture->slots, capture->lost,
           capture->whole ? "whole" : "cut", name);
}

static int list(const struct extract *extract)
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

static int write_all(struct extract *extract)
{
    size_t first = extract->number ? extract->number : 1;
    size_t last = extract->number ? extract->number : extract->found.count;
    int status = KYMO_OK;

    for (size_t i = first; i <= last; i++) {
        char *path = path_of(extract, i);

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

static int choose(struct extract *extract)
{
    size_t count = extract->found.count;

    if (extract->found.unreadable > 0) {
        kymo_error("%s: %" PRIu64 " records can't be read: the disk is bad there", extract->path,
                   extract->found.unreadable);
    }
    if (extract->list) {
        return list(extract);
    }
    if (count == 0 || extract->number > count) {
        kymo_error(count ? "%s: there is no capture %zu: see --list" : "%s: no captures",
                   extract->path, extract->number);
        return KYMO_FAILURE;
    }
    if (extract->output && !extract->number && count > 1) {
        return kymo_usage("extract", "%s: %zu captures are there: which one? -n NUMBER",
                          extract->path, count);
    }
    return write_all(extract);
}

static int open_error(const char *path, int result)
{
    if (result == -EILSEQ) {
        kymo_error("%s: no block log is there: tracelogger --format makes one", path);
    } else {
        kymo_error("%s: %s", path, strerror(-result));
    }
    return KYMO_FAILURE;
}

static int run(struct extract *extract)
{
    struct extract_disk disk;

    if (extract_disk_open(&disk, extract->path) != 0) {
        return KYMO_FAILURE;
    }
    extract->log.progress = kymo_progress;
    extract->log.progress_what = (void *)(uintptr_t)extract->path;
    int result = blocklog_open(&extract->log, &disk.disk);
    result = result == 0 ? extract_list(&extract->log, &extract->found) : result;
    kymo_progress_end();
    int status = result == 0 ? choose(extract) : open_error(extract->path, result);
    extract_list_free(&extract->found);
    extract_disk_close(&disk);
    return fflush(stdout) == 0 ? status : KYMO_FAILURE;
}

static bool number_parse(const char *text, size_t *number)
{
    char *end;

    *number = strtoul(text, &end, 10);
    return *text >= '1' && *text <= '9' && *end == '\0';
}

static int extract_main(int argc, char **argv)
{
    static struct extract extract;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:ln:o:d:h", extract_options, NULL)) != -1) {
        switch (option) {
        case 'l':
            extract.list = true;
            break;
        case 'n':
            if (!number_parse(optarg, &extract.number)) {
                return kymo_usage("extract", "extract: -n %s: not a capture's number", optarg);
            }
            break;
        case 'o':
            extract.output = optarg;
            break;
        case 'd':
            extract.folder = optarg;
            break;
        case 'h':
            return kymo_help(&kymo_extract_command);
        default:
            return kymo_bad_option("extract", argc, argv, option);
        }
    }
    if (optind + 1 != argc) {
        return kymo_usage("extract",
                          optind == argc ? "extract: which disk?" : "extract: one disk only");
    }
    extract.path = argv[optind];
    return run(&extract);
}

const struct kymo_command kymo_extract_command = {
    .name = "extract",
    .summary = "take the captures off a disk that a target has written",
    .run = extract_main,
    .help = extract_help,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo extract: the captures on a disk that a target's tracelogger has written (-f block:NAME), as
 * the files that it would have written elsewhere; or (--core) a flight recorder's out of an image
 * of a dead machine's memory. Every byte is checked on the way.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/extract/core.h"
#include "host/extract/disk.h"
#include "host/extract/out.h"
#include "host/kymo.h"
#include "host/output.h"

static const char extract_help[] =
    "Usage: kymo extract [--list] [--scan | --log NUMBER] [--force] [-n NUMBER]\n"
    "                    [-o FILE | -d FOLDER] DISK\n"
    "       kymo extract --core IMAGE [--base ADDRESS] [--page CAPTURE] [--list]\n"
    "                    [--force] [-o FILE | -d FOLDER]\n"
    "\n"
    "Takes the captures off a disk that a target has written them to (tracelogger -f\n"
    "block:NAME), whole or cut off by a power failure. DISK is the disk, or an image of\n"
    "it, not written to. Without -n all captures. Without -o each is named after what it\n"
    "is, so that no other one has its name: trace.kev becomes\n"
    "trace-BOARD-DATE-LOG-RECORD.kev.\n"
    "\n"
    "  -l, --list     only list the captures, from their headers: the data isn't read\n"
    "  -n NUMBER      only this capture; 1 is the oldest\n"
    "  -o FILE        the output (- is standard output); with -n, or if there is only one\n"
    "  -d FOLDER      the folder of the output files (default: the current one)\n"
    "  --force        replace existing files; without it a file that differs is refused\n"
    "  --scan         look for records everywhere, not only where the log says that they are:\n"
    "                 for a damaged disk, or a copy that left bad sectors out\n"
    "  --log NUMBER   like --scan, for this log: a disk on which a new log was begun\n"
    "                 still has what was not written over since; 1 is the oldest,\n"
    "                 --scan --list prints them\n"
    "  -h, --help     print this text\n"
    "\n"
    "With --core: the last moments of a machine that has died, its flight recorder, out of\n"
    "an image of its memory: the bytes as they are, or an ELF core. They become crash.kev.\n"
    "\n"
    "  --core IMAGE   the image, not written to\n"
    "  --base ADDRESS the first byte's in the machine; not needed, but then it is checked\n"
    "  --page CAPTURE a capture of the same kernel, if the image has no system page\n"
    "\n"
    "Exit status: 0 success; 1 not all was read, or no such capture; 2 usage error.\n";

enum { OPTION_CORE = 256, OPTION_BASE, OPTION_PAGE, OPTION_FORCE, OPTION_SCAN, OPTION_LOG };

static const struct option extract_options[] = {
    {"list", no_argument, NULL, 'l'},
    {"core", required_argument, NULL, OPTION_CORE},
    {"base", required_argument, NULL, OPTION_BASE},
    {"page", required_argument, NULL, OPTION_PAGE},
    {"force", no_argument, NULL, OPTION_FORCE},
    {"scan", no_argument, NULL, OPTION_SCAN},
    {"log", required_argument, NULL, OPTION_LOG},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Frames of the disk that the image doesn't reach. */
static uint64_t frames_missing(const struct extract_disk *disk)
{
    const struct blocklog_super *super = &disk->super;
    uint64_t have = disk->disk.sectors - disk->missing, missing = 0;
    uint64_t first = super->version < 3 ? BLOCKLOG_FIRST_OLD : BLOCKLOG_FIRST;
    uint64_t stride = super->header_sectors + BLOCKLOG_DATA_SECTORS;

    if (disk->missing > 0) {
        uint64_t there = have > first ? (have - first) / stride : 0;

        missing = there < super->frames ? super->frames - there : 0;
    }
    return missing;
}

/* A disk that was formatted again still has the records that newer logs have not overwritten. */
static void say_logs(const struct extract *extract)
{
    const struct extract_scan *scan = &extract->scanned;

    for (size_t i = 0; i < scan->logs && scan->logs > 1; i++) {
        kymo_error("%s: log %zu of %zu%s: %" PRIu64 " records%s; --log %zu", extract->path, i + 1,
                   scan->logs, i + 1 == scan->logs ? ", the newest" : "", scan->log[i].records,
                   i + 1 == scan->shown ? ", this one" : "", i + 1);
    }
}

/* Reports missing parts of the disk, besides the captures' own reports. */
static int account_for_the_disk(const struct extract *extract)
{
    const struct extract_list *found = &extract->found;
    const struct extract_disk *disk = &extract->disk;
    uint64_t missing = frames_missing(disk), records = extract->scanned.records;
    int status = missing > 0 ? KYMO_FAILURE : KYMO_OK;

    if (records > 0) {
        kymo_error("%s: %s: it has found %" PRIu64 " records", extract->path,
                   disk->missing > 0 && !extract->scan
                       ? "no record is where the log's first sector says, so a search was made"
                       : "the log's first and last sector are damaged, or a search was asked for",
                   records);
        say_logs(extract);
    }
    if (disk->missing > 0) {
        kymo_error("%s: %sit ends %" PRIu64 " sector%s before the disk did: %" PRIu64 " of %" PRIu64
                   " places for records are missing",
                   extract->path, missing > 0 ? "INCOMPLETE: " : "", disk->missing,
                   disk->missing == 1 ? "" : "s", missing, disk->super.frames);
    }
    if (found->unreadable > (records > 0 ? 0 : missing)) {
        kymo_error("%s: %" PRIu64 " records can't be read: bad sectors", extract->path,
                   found->unreadable);
    }
    if (found->damaged > 0) {
        kymo_error("%s: INCOMPLETE: the headers of %" PRIu64 " records are damaged: a capture may "
                   "lack bytes, its name or its end, or be here although it was deleted",
                   extract->path, found->damaged);
        status = KYMO_FAILURE;
    }
    if (found->between > BLOCKLOG_SPARE) {
        kymo_error("%s: INCOMPLETE: %" PRIu64 " records between two captures are missing: "
                   "there may have been a capture%s",
                   extract->path, found->between,
                   extract->scanned.records > 0 ? "" : "; --scan looks for them everywhere");
        status = KYMO_FAILURE;
    }
    return status;
}

static int extract_choose_captures(struct extract *extract)
{
    size_t count = extract->found.count;

    if (extract->list) {
        return extract_print_list(extract);
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
    return extract_write(extract);
}

static int open_error(const struct extract *extract, int result)
{
    const char *path = extract->path;

    if (result == -EILSEQ) {
        kymo_error("%s: no block log found, nor any record of one", path);
    } else if (result == -ENOENT) {
        kymo_error("%s: no log %zu: a search has found the records of %zu logs", path,
                   extract->log_number, extract->scanned.logs);
    } else {
        kymo_error("%s: %s", path, strerror(-result));
    }
    return KYMO_FAILURE;
}

static int extract_log_open(struct extract *extract)
{
    int result = extract->scan ? -EILSEQ : blocklog_open(&extract->log, &extract->disk.disk);

    return result == -EILSEQ ? extract_scan(&extract->scanned, &extract->log, &extract->disk.disk,
                                            extract->log_number)
                             : result;
}

/* A description that claims more than the disk has, and no record where it says that there are
 * some: it is not believed, if there are records elsewhere. */
static int extract_search_instead(struct extract *extract)
{
    struct blocklog *log = &extract->log;

    if (extract->found.count > 0 || extract->disk.missing == 0 || extract->scanned.records > 0 ||
        extract_scan(&extract->scanned, log, &extract->disk.disk, 0) != 0) {
        return 0;
    }
    extract_list_free(&extract->found);
    return extract_list(log, &extract->found);
}

static int extract_write_captures(struct extract *extract)
{
    if (extract_disk_open(&extract->disk, extract->path) != 0) {
        return KYMO_FAILURE;
    }
    extract->log.progress = kymo_progress;
    extract->log.progress_what = (void *)(uintptr_t)extract->path;
    int result = extract_log_open(extract);
    result = result == 0 ? extract_list(&extract->log, &extract->found) : result;
    result = result == 0 ? extract_search_instead(extract) : result;
    kymo_progress_end();
    int status;
    if (result == 0) {
        int disk = account_for_the_disk(extract);

        status = extract_choose_captures(extract);
        status = status == KYMO_OK ? disk : status;
    } else {
        status = open_error(extract, result);
    }
    extract_list_free(&extract->found);
    extract_scan_free(&extract->scanned);
    extract_disk_close(&extract->disk);
    return kymo_stdout_end(status);
}

static bool extract_number_parse(const char *text, size_t *number)
{
    char *end;

    *number = strtoul(text, &end, 10);
    return *text >= '1' && *text <= '9' && *end == '\0';
}

/* An option that takes something; false: it isn't known. */
static bool extract_take_option(int option, struct extract *extract, struct core_options *core)
{
    switch (option) {
    case 'o':
        extract->output = optarg;
        return true;
    case 'd':
        extract->folder = optarg;
        return true;
    case OPTION_CORE:
        core->core = optarg;
        return true;
    case OPTION_BASE:
        core->base = optarg;
        return true;
    case OPTION_PAGE:
        core->page = optarg;
        return true;
    default:
        return false;
    }
}

static int run_core(const struct extract *extract, struct core_options *core, int left)
{
    if (left > 0 || extract->number || extract->scan) {
        return kymo_usage("extract", "extract: --core has neither a DISK nor -n, --scan, --log");
    }
    core->output = extract->output;
    core->folder = extract->folder;
    core->list = extract->list;
    core->force = extract->force;
    return core_command(core);
}

static int run_disk(struct extract *extract, const struct core_options *core, int left,
                    char **paths)
{
    if (core->base || core->page) {
        return kymo_usage("extract", "extract: --base and --page are for --core");
    }
    if (left != 1) {
        return left == 0 ? kymo_usage("extract", "extract: which disk?")
                         : kymo_usage("extract", "extract: one disk only, not %s too", paths[1]);
    }
    extract->path = paths[0];
    output_reads(extract->path);
    return extract_write_captures(extract);
}

static int extract_main(int argc, char **argv)
{
    static struct extract extract;
    struct core_options core = {0};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":ln:o:d:h", extract_options, NULL)) != -1) {
        switch (option) {
        case 'l':
            extract.list = true;
            break;
        case 'n':
            if (!extract_number_parse(optarg, &extract.number)) {
                return kymo_usage("extract", "extract: -n %s: not a capture's number", optarg);
            }
            break;
        case OPTION_FORCE:
            extract.force = true;
            break;
        case OPTION_SCAN:
            extract.scan = true;
            break;
        case OPTION_LOG:
            if (!extract_number_parse(optarg, &extract.log_number)) {
                return kymo_usage("extract", "extract: --log %s: not a log's number", optarg);
            }
            extract.scan = true;
            break;
        case 'h':
            return kymo_help(&kymo_extract_command);
        default:
            if (!extract_take_option(option, &extract, &core)) {
                return kymo_bad_option("extract", extract_options, argc, argv, option);
            }
        }
    }
    return core.core ? run_core(&extract, &core, argc - optind)
                     : run_disk(&extract, &core, argc - optind, argv + optind);
}

const struct kymo_command kymo_extract_command = {
    .name = "extract",
    .summary = "take captures off a target's disk, or out of a dead one's memory",
    .run = extract_main,
    .help = extract_help,
};

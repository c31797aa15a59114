/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo stat: what happened in a capture, on one screen or as JSON.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/fold.h"
#include "host/stat/stat.h"
#include "host/verify/verify.h"

#define PROGRESS_EVENTS 65536

static const char stat_help[] =
    "Usage: kymo stat [options] FILE\n"
    "\n"
    "Shows what happened in a capture: threads by CPU time and state, messages\n"
    "between processes with their latencies, interrupts, kernel calls, events by\n"
    "class and name, losses.\n"
    "FILE - is standard input.\n"
    "\n"
    "  --all        print all lines of each table\n"
    "  --json       for programs: one JSON object, times in nanoseconds\n"
    "  --recover    read the undamaged parts of a damaged file\n"
    "  -h, --help   print this text\n";

struct request {
    const char *input;
    bool json, recover, all;
};

enum { OPT_JSON = 256, OPT_RECOVER, OPT_ALL };

static const struct option stat_options[] = {
    {"all", no_argument, NULL, OPT_ALL},
    {"json", no_argument, NULL, OPT_JSON},
    {"recover", no_argument, NULL, OPT_RECOVER},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Returns the exit status, -1 to continue. */
static int stat_options_parse(struct request *request, int argc, char **argv)
{
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", stat_options, NULL)) != -1) {
        if (option == 'h') {
            return kymo_help(&kymo_stat_command);
        }
        if (option == OPT_JSON) {
            request->json = true;
        } else if (option == OPT_RECOVER) {
            request->recover = true;
        } else if (option == OPT_ALL) {
            request->all = true;
        } else {
            return kymo_bad_option("stat", stat_options, argc, argv, option);
        }
    }
    if (optind + 1 != argc) {
        return optind == argc ? kymo_usage("stat", "stat: which capture?")
                              : kymo_usage("stat", "stat: one capture at a time");
    }
    request->input = argv[optind];
    return -1;
}

static void stat_read(struct stat *stat)
{
    struct kev_event event;
    struct kev_error error;
    enum kev_result result;
    uint64_t n = 0;

    while ((result = kev_next(stat->kev, &event, &error)) == KEV_EVENT) {
        stat_event(stat, &event);
        if (++n % PROGRESS_EVENTS == 0) {
            kymo_progress("counting", event.offset, kev_info(stat->kev)->size);
        }
    }
    kymo_progress_end();
    stat_finish(stat);
    if (result == KEV_ERROR) {
        stat->cut = error.incomplete;
        stat->missing = error.given && !error.incomplete;
    }
}

static int stat_show(const struct request *request, struct stat *stat)
{
    struct stat_style style = {.bold = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL,
                               .all = request->all,
                               .columns = fold_columns()};

    if (request->json) {
        json_show(stdout, stat);
    } else {
        text_show(stdout, stat, &style);
    }
    return kymo_stdout_end(KYMO_OK);
}

static int stat_capture(const struct request *request, struct kev *kev)
{
    struct stat *stat = stat_new(kev);
    int status = KYMO_OK, verdict;

    if (stat == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    stat_read(stat);
    if (verify_can_show(kev)) {
        status = stat_show(request, stat);
    }
    verdict = verify_end(kev);
    stat_free(stat);
    free(stat);
    return status == KYMO_OK ? verdict : status;
}

static int stat_main(int argc, char **argv)
{
    struct request request = {0};
    struct kev_options options = {.progress = kymo_progress, .progress_arg = (void *)"reading"};
    struct kev_error error;
    int status = stat_options_parse(&request, argc, argv);
    struct kev *kev;

    if (status >= 0) {
        return status;
    }
    options.recover = request.recover;
    kev = kev_open(request.input, &options, &error);
    kymo_progress_end();
    if (kev == NULL) {
        return verify_refuse(&error);
    }
    status = stat_capture(&request, kev);
    kev_close(kev);
    return status;
}

const struct kymo_command kymo_stat_command = {
    .name = "stat",
    .summary = "show what happened in a capture",
    .run = stat_main,
    .help = stat_help,
};

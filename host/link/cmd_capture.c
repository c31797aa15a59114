/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo capture: stores the capture that the target's tracelogger sends over the link (tracelogger
 * -f link:NAME). The file is the same, byte for byte, as one that the target writes itself. store.c
 * has the protocol and the files.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/link/cmd.h"
#include "host/link/store.h"
#include "lib/link/service.h"

#define MESSAGE_MOST (LINK_MESSAGE_MOST)

static const char capture_help[] =
    "Usage: kymo capture [-t TARGET] [-o FILE [--force]] [-n COUNT]\n"
    "\n"
    "Waits for captures that the target sends (tracelogger -f link:NAME) and stores\n"
    "them here, each under its NAME without the folders and with .kev; if a file of\n"
    "that name exists, the date is added. A capture is acknowledged to the target once\n"
    "it is on the disk.\n"
    "TARGET is unix:PATH, tcp:HOST:PORT or a serial line /dev/tty...[@BAUD].\n"
    "\n"
    "  -t TARGET      the target (default: the environment's KYMO_TARGET)\n"
    "  -o FILE        store the capture in FILE, whatever its name (- is standard output)\n"
    "  --force        replace FILE if it exists\n"
    "  -n COUNT       end after COUNT captures (default 1; 0: only when interrupted)\n"
    "  -h, --help     print this text\n";

enum { OPTION_FORCE = 256 };

static const struct option capture_options[] = {
    {"force", no_argument, NULL, OPTION_FORCE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Messages until there are `count` captures. Returns 0 or a negative errno. */
static int link_capture_take_all(struct store *store, unsigned long count)
{
    uint8_t *room = malloc(MESSAGE_MOST);
    long got = 0;

    while (room && !cmd_interrupted && (count == 0 || store->stored < count)) {
        got = channel_receive(store->channel, room, MESSAGE_MOST, 1000);
        if (got >= 0) {
            got = store_message(store, room, (size_t)got);
        }
        if (got < 0 && got != -EAGAIN) {
            break;
        }
    }
    free(room);
    return room == NULL ? -ENOMEM : got == -EAGAIN ? 0 : (int)got;
}

int cmd_capture(const char *target, struct store *store, unsigned long count)
{
    struct session *session;
    int result, status = KYMO_OK;

    store->channel = cmd_open(target, "capture", &session);
    if (store->channel == NULL) {
        return KYMO_FAILURE;
    }
    result = link_capture_take_all(store, count);
    if (store_incomplete(store)) {
        status = KYMO_FAILURE;
    }
    if (result == -EPIPE) {
        status = cmd_lost(session, target);
    } else if (result < 0) {
        kymo_error("%s: %s", target, strerror(-result));
        status = KYMO_FAILURE;
    }
    session_close(session);
    return status == KYMO_OK && store->stored < count ? KYMO_FAILURE : status;
}

struct capture {
    const char *target;
    unsigned long count; /* to store; 0: any number */
    struct store store;
};

static bool link_capture_count_parse(const char *text, unsigned long *count)
{
    char *end;

    *count = strtoul(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0';
}

static int capture_main(int argc, char **argv)
{
    static struct capture capture = {.count = 1};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":t:o:n:h", capture_options, NULL)) != -1) {
        switch (option) {
        case 't':
            capture.target = optarg;
            break;
        case 'o':
            capture.store.output = optarg;
            break;
        case OPTION_FORCE:
            capture.store.force = true;
            break;
        case 'n':
            if (!link_capture_count_parse(optarg, &capture.count)) {
                return kymo_usage("capture", "capture: -n %s: not a number", optarg);
            }
            break;
        case 'h':
            return kymo_help(&kymo_capture_command);
        default:
            return kymo_bad_option("capture", capture_options, argc, argv, option);
        }
    }
    capture.target = cmd_target(capture.target);
    if (capture.target == NULL || optind < argc) {
        return capture.target == NULL
                   ? kymo_usage("capture", "capture: no target: give -t TARGET or KYMO_TARGET")
                   : kymo_usage("capture", "capture: unknown argument %s", argv[optind]);
    }
    if (capture.store.force && capture.store.output == NULL) {
        return kymo_usage("capture", "capture: --force is for -o FILE");
    }
    if (capture.store.output && capture.count != 1 && strcmp(capture.store.output, "-") != 0) {
        return kymo_usage("capture", "capture: -o FILE takes one capture: leave -n out");
    }
    cmd_catch_signals();
    return store_check(&capture.store) == 0
               ? cmd_capture(capture.target, &capture.store, capture.count)
               : KYMO_FAILURE;
}

const struct kymo_command kymo_capture_command = {
    .name = "capture",
    .summary = "store the captures that a target sends over its link",
    .run = capture_main,
    .help = capture_help,
};

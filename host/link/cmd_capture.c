/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo capture: stores what the target's tracelogger sends over the link (tracelogger -f
 * link:NAME). The file is the same, byte for byte, as one that the target writes itself. It is
 * complete when the target has said how long it is and that is how long it is; then the target is
 * told that it is safe.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/link/cmd.h"
#include "host/link/reason.h"
#include "host/name.h"
#include "lib/link/service.h"

#define MESSAGE_MOST (LINK_MESSAGE_MOST)

static const char capture_help[] =
    "Usage: kymo capture -t TARGET [-o FILE] [-n COUNT]\n"
    "\n"
    "Waits for captures that the target sends (tracelogger -f link:NAME) and stores\n"
    "them here, each under its NAME without the folders.\n"
    "TARGET is unix:PATH, tcp:HOST:PORT or a serial line /dev/tty...[@BAUD].\n"
    "\n"
    "  -t TARGET      where the target is\n"
    "  -o FILE        store it there, whatever its name (- is standard output)\n"
    "  -n COUNT       end after so many captures (default 1; 0: when interrupted)\n"
    "  -h, --help     this text\n";

static const struct option capture_options[] = {
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct capture {
    const char *target, *output;
    unsigned long count; /* to store; 0: any number */
    unsigned long stored;
    struct session *session;
    struct channel *channel;
    int fd; /* -1: between two captures */
    char name[KYMO_NAME_MOST];
    uint64_t bytes;
};

static int tell(struct capture *capture, int error)
{
    const struct link_capture word = {LINK_CAPTURE_STORED, -reason_to_target(error),
                                      capture->bytes};

    return channel_send(capture->channel, &word, sizeof(word));
}

static int failed(struct capture *capture)
{
    int error = errno ? errno : EIO;

    kymo_error("%s: %s", capture->output ? capture->output : capture->name, strerror(error));
    tell(capture, error);
    return -error;
}

static int begin(struct capture *capture, const uint8_t *name, size_t bytes)
{
    const char *path;

    if (capture->fd >= 0) {
        return -EPROTO;
    }
    kymo_plain_name((const char *)name, bytes, capture->name);
    path = capture->output ? capture->output : capture->name;
    capture->bytes = 0;
    errno = 0;
    capture->fd = strcmp(path, "-") == 0
                      ? dup(STDOUT_FILENO)
                      : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return capture->fd < 0 ? failed(capture) : 0;
}

static int store(struct capture *capture, const uint8_t *data, size_t bytes)
{
    if (capture->fd < 0) {
        return -EPROTO;
    }
    while (bytes > 0) {
        errno = 0;
        ssize_t done = write(capture->fd, data, bytes);

        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return failed(capture);
        }
        data += done;
        bytes -= (size_t)done;
        capture->bytes += (uint64_t)done;
    }
    return 0;
}

static int end(struct capture *capture, uint64_t bytes)
{
    int fd = capture->fd;

    if (fd < 0 || bytes != capture->bytes) {
        return -EPROTO;
    }
    capture->fd = -1;
    errno = 0;
    if (close(fd) != 0) {
        return failed(capture);
    }
    capture->stored++;
    if (capture->output == NULL || strcmp(capture->output, "-") != 0) {
        kymo_error("the capture: %s, %llu bytes", capture->output ? capture->output : capture->name,
                   (unsigned long long)bytes);
    }
    return tell(capture, 0);
}

static int message(struct capture *capture, const uint8_t *bytes, size_t count)
{
    struct link_capture head;

    if (count < sizeof(head)) {
        return -EPROTO;
    }
    memcpy(&head, bytes, sizeof(head));
    switch (head.kind) {
    case LINK_CAPTURE_BEGIN:
        return begin(capture, bytes + sizeof(head), count - sizeof(head));
    case LINK_CAPTURE_DATA:
        return store(capture, bytes + sizeof(head), count - sizeof(head));
    case LINK_CAPTURE_END:
        return end(capture, head.bytes);
    default:
        return -EPROTO;
    }
}

static int loop(struct capture *capture)
{
    uint8_t *room = malloc(MESSAGE_MOST);
    long got = 0;

    while (room && !cmd_interrupted && (capture->count == 0 || capture->stored < capture->count)) {
        got = channel_receive(capture->channel, room, MESSAGE_MOST, 1000);
        if (got >= 0) {
            got = message(capture, room, (size_t)got);
        }
        if (got < 0 && got != -EAGAIN) {
            break;
        }
    }
    free(room);
    return room == NULL ? -ENOMEM : got == -EAGAIN ? 0 : (int)got;
}

static int capture_run(struct capture *capture)
{
    int result, status = KYMO_OK;

    capture->channel = cmd_open(capture->target, "capture", &capture->session);
    if (capture->channel == NULL) {
        return KYMO_FAILURE;
    }
    capture->fd = -1;
    result = loop(capture);
    if (capture->fd >= 0) {
        kymo_error("%s: INCOMPLETE: %llu bytes", capture->output ? capture->output : capture->name,
                   (unsigned long long)capture->bytes);
        close(capture->fd);
        status = KYMO_FAILURE;
    }
    if (result == -EPIPE) {
        status = cmd_lost(capture->session, capture->target);
    } else if (result < 0) {
        kymo_error("%s: %s", capture->target, strerror(-result));
        status = KYMO_FAILURE;
    }
    session_close(capture->session);
    return status == KYMO_OK && capture->stored < capture->count ? KYMO_FAILURE : status;
}

static bool count_parse(const char *text, unsigned long *count)
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
            capture.output = optarg;
            break;
        case 'n':
            if (!count_parse(optarg, &capture.count)) {
                return kymo_usage("capture", "capture: -n %s: not a number", optarg);
            }
            break;
        case 'h':
            return kymo_help(&kymo_capture_command);
        default:
            return kymo_bad_option("capture", argc, argv, option);
        }
    }
    if (capture.target == NULL || optind < argc) {
        return capture.target == NULL ? kymo_usage("capture", "capture: which target? -t TARGET")
                                      : kymo_usage("capture", "capture: what is %s?", argv[optind]);
    }
    cmd_catch_signals();
    return capture_run(&capture);
}

const struct kymo_command kymo_capture_command = {
    .name = "capture",
    .summary = "store the captures that a target sends over its link",
    .run = capture_main,
    .help = capture_help,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo link: who is at the other end, and what the line carries: bytes that the target makes up,
 * each of which is checked.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/link/cmd.h"
#include "lib/link/service.h"

#define MESSAGE_MOST (1024 * 1024)

static const char link_help[] =
    "Usage: kymo link [-t TARGET] [options]\n"
    "\n"
    "Says which target is at the other end of a link, and what the line carries.\n"
    "TARGET is unix:PATH, tcp:HOST:PORT or a serial line /dev/tty...[@BAUD].\n"
    "\n"
    "  -t TARGET      where the target is (default: KYMO_TARGET of the environment)\n"
    "  --bytes N      have so many bytes sent, check each, say how fast (default 0)\n"
    "  --seed N       of those bytes (default: the time)\n"
    "  -h, --help     this text\n";

enum { OPT_BYTES = 256, OPT_SEED };

static const struct option link_options[] = {
    {"bytes", required_argument, NULL, OPT_BYTES},
    {"seed", required_argument, NULL, OPT_SEED},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct measure {
    const char *target;
    unsigned long long bytes;
    unsigned long seed;
};

static double seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void say_who(const struct link_hello *hello)
{
    printf("board %s, build id ", hello->board);
    for (size_t i = 0; i < sizeof(hello->build_id); i++) {
        printf("%02x", hello->build_id[i]);
    }
    printf(", link version %u\n", hello->version);
}

/* One message of made-up bytes. 0, -EPIPE, or -EIO: they are not what they should be. */
static int one(struct channel *channel, uint8_t *room, uint32_t bytes, uint32_t seed)
{
    const struct link_source request = {bytes, seed};
    int error = channel_send(channel, &request, sizeof(request));
    long got;

    if (error) {
        return error;
    }
    do {
        got = channel_receive(channel, room, MESSAGE_MOST, 1000);
    } while (got == -EAGAIN && !cmd_interrupted);
    if (got < 0) {
        return (int)got;
    }
    for (uint32_t i = 0; i < bytes && got == (long)bytes; i++) {
        if (room[i] != link_source_byte(seed, i)) {
            return -EIO;
        }
    }
    return got == (long)bytes ? 0 : -EIO;
}

static int measure_all(struct channel *channel, struct session *session, const struct measure *m)
{
    uint8_t *room = malloc(MESSAGE_MOST);
    double began = seconds();
    unsigned long long left = m->bytes;
    int error = room == NULL ? -ENOMEM : 0;

    for (unsigned n = 0; error == 0 && left > 0; n++) {
        uint32_t part = left < MESSAGE_MOST ? (uint32_t)left : MESSAGE_MOST;

        error = one(channel, room, part, (uint32_t)m->seed + n);
        left -= part;
    }
    free(room);
    if (error == -EPIPE) {
        return cmd_lost(session, m->target);
    }
    if (error) {
        kymo_error("%s: %s", m->target, error == -EIO ? "WRONG BYTES came" : strerror(-error));
        return KYMO_FAILURE;
    }
    double took = seconds() - began;
    printf("%llu bytes in %.3f s, all as they should be: %.3f MB/s, %.0f bytes/s\n", m->bytes, took,
           (double)m->bytes / took / 1e6, (double)m->bytes / took);
    return KYMO_OK;
}

static int run(const struct measure *m)
{
    struct session *session;
    struct channel *channel = cmd_open(m->target, "source", &session);
    int status = KYMO_OK;

    if (channel == NULL) {
        return KYMO_FAILURE;
    }
    say_who(session_hello(session));
    if (m->bytes > 0) {
        status = measure_all(channel, session, m);
    }
    session_close(session);
    return status;
}

static bool number_parse(const char *text, unsigned long long *number)
{
    char *end;

    *number = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && *end == '\0';
}

static int link_main(int argc, char **argv)
{
    struct measure m = {.seed = (unsigned long)time(NULL)};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":t:h", link_options, NULL)) != -1) {
        switch (option) {
        case 't':
            m.target = optarg;
            break;
        case OPT_BYTES:
            if (!number_parse(optarg, &m.bytes)) {
                return kymo_usage("link", "link: --bytes %s: not a number", optarg);
            }
            break;
        case OPT_SEED:
            m.seed = strtoul(optarg, NULL, 0);
            break;
        case 'h':
            return kymo_help(&kymo_link_command);
        default:
            return kymo_bad_option("link", argc, argv, option);
        }
    }
    m.target = cmd_target(m.target);
    if (m.target == NULL || optind < argc) {
        return m.target == NULL ? kymo_usage("link", "link: which target? -t TARGET or KYMO_TARGET")
                                : kymo_usage("link", "link: what is %s?", argv[optind]);
    }
    cmd_catch_signals();
    return run(&m);
}

const struct kymo_command kymo_link_command = {
    .name = "link",
    .summary = "say who is at the other end of a link, and measure it",
    .run = link_main,
    .help = link_help,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of tracelogger. A wrong one is exit status 2. */
#include "tracelogger/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/include/kymo.h"

#define DEFAULT_FILE "trace.kev"
#define DEFAULT_LIMIT 32

static const char help[] =
    "usage: tracelogger [-crwv] [-n BUFFERS] [-s SECONDS] [-k BUFFERS] [-F NUMBER] [-f FILE]\n"
    "Records the kernel's events into a file on the host.\n"
    "  -n BUFFERS  stop after so many buffers of 16 KB (default 32; 0: no limit)\n"
    "  -s SECONDS  stop after so long (0: no limit); then -n's default is 0\n"
    "  -c          record until told to stop: the same as -n 0\n"
    "  -r          ring: keep the newest events, write them when told to stop\n"
    "  -k BUFFERS  kernel buffers per CPU, 2 to 1024 (default 8; 32 on one CPU)\n"
    "  -F NUMBER   leave out: 1 kernel calls, 2 interrupts, 3 processes, 4 threads,\n"
    "              6 communication, 7 system; 0 and 5 leave out nothing; repeatable\n"
    "  -f FILE     default trace.kev, in the emulator's directory; link:NAME: over the\n"
    "              link, to the host that runs `kymo capture`; block:NAME: to the disk\n"
    "  --reclaim   on a disk that is full: give up the oldest captures\n"
    "  --format    first make the disk empty: all that is on it is lost\n"
    "  -w          wide events (default fast)\n"
    "  -v          say what happens; twice: every buffer\n"
    "`tracestop` tells it to stop. Exit status: 0 good, 1 capture incomplete, 2 usage.\n";

static bool number(const char *text, uint32_t most, uint32_t *value)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    *value = (uint32_t)n;
    return *text >= '0' && *text <= '9' && *end == '\0' && n <= most;
}

static void join_args(int argc, char **argv, struct options *options)
{
    size_t used = 0;

    for (int i = 0; i < argc && used < sizeof(options->args); i++) {
        used += (size_t)snprintf(options->args + used, sizeof(options->args) - used, "%s%s",
                                 i ? " " : "", argv[i]);
    }
}

static bool filter(const char *text, struct options *options)
{
    uint32_t value;

    if (!number(text, FILTERS - 1, &value)) {
        return false;
    }
    options->without |= UINT32_C(1) << value;
    return true;
}

/* One option; false if its argument is bad or there is no such option. */
static bool option(int c, struct options *options, bool *limited)
{
    switch (c) {
    case 'n':
        *limited = true;
        return number(optarg, UINT32_MAX, &options->buffers);
    case 's':
        return number(optarg, 1000000, &options->seconds);
    case 'c':
        *limited = true;
        options->buffers = 0;
        return true;
    case 'r':
        options->mode = MODE_RING;
        return true;
    case 'k':
        return number(optarg, KERNEL_BUFFERS_MOST, &options->kernel_buffers) &&
               options->kernel_buffers >= 2;
    case 'F':
        return filter(optarg, options);
    case 'f':
        options->file = optarg;
        return *optarg != '\0';
    case 'w':
        options->wide = true;
        return true;
    case 'v':
        options->verbose++;
        return true;
    default:
        return false;
    }
}

static const char *takes(int c)
{
    switch (c) {
    case 'n':
        return "a number of buffers";
    case 's':
        return "seconds, at most 1000000";
    case 'k':
        return "2 to 1024 buffers";
    case 'F':
        return "a number from 0 to 7";
    default:
        return "the name of a file";
    }
}

static int wrong_value(int c)
{
    printf("tracelogger: -%c takes %s\nTry: tracelogger --help\n", c, takes(c));
    return 2 + 1;
}

static int wrong_word(const char *word)
{
    printf("tracelogger: what is %s?\nTry: tracelogger --help\n", word);
    return 2 + 1;
}

static bool long_option(const char *word, struct options *options)
{
    options->format |= strcmp(word, "--format") == 0;
    options->reclaim |= strcmp(word, "--reclaim") == 0;
    return strcmp(word, "--format") == 0 || strcmp(word, "--reclaim") == 0;
}

/* The long ones, of which not every C library's getopt() knows, are taken out of argv first. */
static int without_long_options(int argc, char **argv, struct options *options)
{
    int kept = 1;

    for (int i = 1; i < argc; i++) {
        const char *before = argv[i - 1];
        bool value = before[0] == '-' && before[1] && strchr("nskFf", before[1]) && !before[2];

        if (value || !long_option(argv[i], options)) {
            argv[kept++] = argv[i];
        }
    }
    argv[kept] = NULL;
    return kept;
}

static int options_get(int argc, char **argv, struct options *options)
{
    bool limited = false;
    int at, c;

    opterr = 0;
    while (at = optind, (c = getopt(argc, argv, ":n:s:ck:rF:f:wv")) != -1) {
        if (c == '?') {
            /* Only one of the C libraries says which letter, and in only one optind begins at 1. */
            return wrong_word(argv[at == 0 ? 1 : at]);
        }
        if (c == ':' || !option(c, options, &limited)) {
            return wrong_value(c == ':' ? optopt : c);
        }
    }
    if (optind < argc) {
        return wrong_word(argv[optind]);
    }
    if (!limited) {
        options->buffers = options->seconds > 0 || options->mode == MODE_RING ? 0 : DEFAULT_LIMIT;
    }
    return 0;
}

int options_parse(int argc, char **argv, struct options *options)
{
    memset(options, 0, sizeof(*options));
    options->file = DEFAULT_FILE;
    options->kernel_buffers = kymo_cpus() > 1 ? 8 : 32;
    join_args(argc, argv, options);
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return 0 + 1;
    }
    argc = without_long_options(argc, argv, options);
    return options_get(argc, argv, options);
}

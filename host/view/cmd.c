/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo view: the page of `kymo report`, of a capture of any size or of one that is being recorded,
 * from a port of this machine. Man page docs/man/kymo-view.1, use docs/guide/report.md. A large
 * capture is shown from its beginning while the rest of it is being read.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/link/cmd.h"
#include "host/output.h"
#include "host/reader/kev.h"
#include "host/view/view.h"

#define FIRST_BYTES ((size_t)16 << 20) /* that are shown while the rest is being read */
#define FIRST_LEAST (3 * FIRST_BYTES)  /* of a capture that is shown so */
#define MOST_LIMIT 20000000            /* that browsers bear */
#define TICK_MS 5000
#define SHARE_STEP 0.01 /* of the progress that the page shows */

static const char view_help[] =
    "Usage: kymo view [--port N] [--open] FILE\n"
    "       kymo view [--port N] [--open] [-o FILE [--force]] -t TARGET\n"
    "\n"
    "Serves the page of `kymo report` from a port of this machine (127.0.0.1), for a capture of\n"
    "any size: the page asks for the events of what it shows. Prints the address, and serves "
    "until\n"
    "it is interrupted. With -t it stores the capture that the target sends (tracelogger -f\n"
    "link:NAME), and the page grows meanwhile. TARGET is unix:PATH, tcp:HOST:PORT or a serial "
    "line\n"
    "/dev/tty...[@BAUD]. FILE - is standard input.\n"
    "\n"
    "  -t TARGET      show what this target records (default without FILE: the environment's\n"
    "                 KYMO_TARGET)\n"
    "  -o FILE        keep that capture in FILE; without it nothing is kept\n"
    "  --force        replace FILE if it exists\n"
    "  --port N       the port; default: one that is free\n"
    "  --most N       events that the page has at once; of a larger capture it asks for parts of\n"
    "                 half as many; default: 4000000\n"
    "  --open         open the page in a browser (xdg-open)\n"
    "  --recover      take the undamaged parts of a damaged file\n"
    "  --symbols PATH names for the addresses of functions, as of kymo report; may be given\n"
    "                 again\n"
    "  -h, --help     print this text\n";

enum { OPT_FORCE = 256, OPT_RECOVER, OPT_SYMBOLS, OPT_PORT, OPT_OPEN, OPT_MOST };

static const struct option view_options[] = {
    {"force", no_argument, NULL, OPT_FORCE},
    {"recover", no_argument, NULL, OPT_RECOVER},
    {"symbols", required_argument, NULL, OPT_SYMBOLS},
    {"port", required_argument, NULL, OPT_PORT},
    {"most", required_argument, NULL, OPT_MOST},
    {"open", no_argument, NULL, OPT_OPEN},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct view {
    struct report report; /* what is asked for */
    const char *target, *output;
    bool force, open;
    unsigned port;
    struct server *server;
    double said; /* of the progress */
};

static volatile sig_atomic_t view_ends;

static void view_on_signal(int signo)
{
    (void)signo;
    view_ends = 1;
}

static void view_catch_signals(void)
{
    struct sigaction action = {.sa_handler = view_on_signal};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

void view_begin(const struct server *server, bool browse)
{
    printf("%s\n", server_url(server));
    fflush(stdout);
    if (browse) {
        browse_open(server_url(server));
    }
}

/* ---- options ----------------------------------------------------------------------- */

/* 0, or -1: it is no port. */
static int port_parse(struct view *view)
{
    char *end;
    unsigned long port = strtoul(optarg, &end, 10);

    view->port = (unsigned)port;
    return optarg[0] < '0' || optarg[0] > '9' || *end != '\0' || port == 0 || port > 65535 ? -1 : 0;
}

/* 0, or -1: it is no number of events. */
static int view_most_parse(struct view *view)
{
    char *end;

    view->report.whole_most = strtoul(optarg, &end, 10);
    return optarg[0] < '0' || optarg[0] > '9' || *end != '\0' ||
                   view->report.whole_most < VIEW_LEAST || view->report.whole_most > MOST_LIMIT
               ? -1
               : 0;
}

static int inputs_check(struct view *view, int argc, char **argv)
{
    if (optind + 1 < argc) {
        return kymo_usage("view", "view: one capture at a time, not %s too", argv[optind + 1]);
    }
    if (optind < argc && view->target != NULL) {
        return kymo_usage("view", "view: a file or -t TARGET, not both");
    }
    if (optind < argc) {
        view->report.input = argv[optind];
        return view->output == NULL && !view->force
                   ? -1
                   : kymo_usage("view", "view: -o and --force are for -t TARGET");
    }
    view->target = cmd_target(view->target);
    if (view->target == NULL) {
        return kymo_usage("view", "view: which capture? Give a file, or -t TARGET");
    }
    if (view->force && view->output == NULL) {
        return kymo_usage("view", "view: --force is for -o FILE");
    }
    if (view->output != NULL && strcmp(view->output, "-") == 0) {
        return kymo_usage("view", "view: -o: a file, not standard output");
    }
    return view->report.recover ? kymo_usage("view", "view: --recover is for a file") : -1;
}

/* Returns the exit status, -1 to continue. */
static int view_options_parse(struct view *view, int argc, char **argv)
{
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":t:o:h", view_options, NULL)) != -1) {
        switch (option) {
        case 'h':
            return kymo_help(&kymo_view_command);
        case 't':
            view->target = optarg;
            break;
        case 'o':
            view->output = optarg;
            break;
        case OPT_FORCE:
            view->force = true;
            break;
        case OPT_RECOVER:
            view->report.recover = true;
            break;
        case OPT_OPEN:
            view->open = true;
            break;
        case OPT_PORT:
            if (port_parse(view) != 0) {
                return kymo_usage("view", "view: --port: a number from 1 to 65535");
            }
            break;
        case OPT_MOST:
            if (view_most_parse(view) != 0) {
                return kymo_usage("view", "view: --most: a number of events, from %d to %d",
                                  VIEW_LEAST, MOST_LIMIT);
            }
            break;
        case OPT_SYMBOLS:
            if (view->report.nsymbols == REPORT_SYMBOLS) {
                return kymo_usage("view", "view: --symbols: at most %d times", REPORT_SYMBOLS);
            }
            view->report.symbols[view->report.nsymbols++] = optarg;
            break;
        default:
            return kymo_bad_option("view", view_options, argc, argv, option);
        }
    }
    return inputs_check(view, argc, argv);
}

/* ---- a file ------------------------------------------------------------------------ */

static void view_print_progress(void *arg, uint64_t done, uint64_t total)
{
    struct view *view = arg;
    double share = total == 0 ? 0 : (double)done / (double)total;

    kymo_progress((void *)"reading", done, total);
    if (view->server != NULL && (share - view->said >= SHARE_STEP || share < view->said)) {
        view->said = share;
        server_say(view->server, share, "the rest of the capture is being read");
    }
    if (view_ends) { /* nothing is being written */
        kymo_progress_end();
        exit(KYMO_OK);
    }
}

/* The beginning of a large capture. NULL: it is not large, or can't be shown so. */
static struct snapshot *first_read(struct view *view, void **bytes)
{
    struct report report = view->report;
    int fd = strcmp(report.input, "-") == 0 ? dup(STDIN_FILENO) : open(report.input, O_RDONLY);
    struct stat st;
    struct snapshot *first = NULL;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        (uint64_t)st.st_size >= FIRST_LEAST && (*bytes = malloc(FIRST_BYTES)) != NULL &&
        pread(fd, *bytes, FIRST_BYTES, 0) == (ssize_t)FIRST_BYTES) {
        report.memory = *bytes;
        report.memory_bytes = FIRST_BYTES;
        report.grows = true;
        first = snapshot_new(&report);
    }
    if (fd >= 0) {
        close(fd);
    }
    return first;
}

static int file_view(struct view *view)
{
    void *first_bytes = NULL;
    struct snapshot *first, *all;

    if (!report_input_keep(view->report.input, view->report.recover)) {
        return KYMO_FAILURE;
    }
    kev_interrupted = &view_ends;
    view_catch_signals(); /* not before: a stream that stalls is interrupted as any command's */
    view->report.progress = view_print_progress;
    view->report.progress_arg = view;
    first = first_read(view, &first_bytes);
    if (first != NULL) {
        view->server = server_new(view->port, first, true);
        if (view->server == NULL) {
            return KYMO_FAILURE;
        }
        view_begin(view->server, view->open);
    }
    all = snapshot_new(&view->report);
    if (all == NULL) {
        server_free(view->server);
        return view_ends ? KYMO_OK : KYMO_FAILURE;
    }
    if (view->server == NULL) {
        view->server = server_new(view->port, all, false);
        if (view->server == NULL) {
            return KYMO_FAILURE;
        }
        view_begin(view->server, view->open);
    } else {
        server_show(view->server, all, false);
        server_say(view->server, -1, "");
    }
    free(first_bytes);
    while (!view_ends) {
        poll(NULL, 0, TICK_MS);
        server_tick(view->server);
    }
    server_free(view->server);
    return KYMO_OK;
}

static int view_main(int argc, char **argv)
{
    static struct view view = {.report.whole_most = VIEW_MOST};
    int status = view_options_parse(&view, argc, argv);

    if (status >= 0) {
        return status;
    }
    return view.target == NULL ? file_view(&view)
                               : view_live(&view.report, view.target, view.output, view.force,
                                           view.port, view.open);
}

const struct kymo_command kymo_view_command = {
    .name = "view",
    .summary = "serve a capture of any size, or a recording, to a browser",
    .run = view_main,
    .help = view_help,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo top: threads by CPU, messages, rates and losses of a running target, redrawn each interval.
 * A D program sums up on the target, so the line carries a few hundred bytes an interval, and no
 * recording is needed. kymo-top(1).
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/link/cmd.h"
#include "host/top/child.h"
#include "host/top/top.h"

static const char top_help[] =
    "Usage: kymo top [options]\n"
    "\n"
    "Shows what runs on a target: threads by CPU time, switches and messages a second,\n"
    "and what was lost, redrawn each interval. Printed as tables where the output is no\n"
    "terminal. Without -t, KYMO_TARGET names the target; else a demo board is booted.\n"
    "\n"
    "  -t TARGET      the target: unix:PATH, tcp:HOST:PORT, /dev/tty...,\n"
    "                 boot[:BOARD[,icount][,image=IMAGE]]\n"
    "  -d SECONDS     the interval (default 1)\n"
    "  -n COUNT       end after COUNT intervals\n"
    "  --sort KEY     cpu, switches, messages or name (default cpu)\n"
    "  --rows N       at most N threads\n"
    "  --json         for programs: one JSON object an interval\n"
    "  -h, --help     print this text\n"
    "\n"
    "Keys: c, s, m, n sort; space stops the display; q ends.\n";

/* A thread that keeps its CPU is accounted for by the samples; a thread that a sample or the end of
 * the interval finds there has its time up to then. %d: the interval in seconds. */
static const char top_script_text[] =
    "sched:::on-cpu { self->at = timestamp; }\n"
    "sched:::off-cpu /self->at/ { @c[cpu, pid, tid, execname] = sum(timestamp - self->at);\n"
    "    @r[pid, tid, execname] = count(); self->at = 0; }\n"
    "profile-20hz { @p[cpu] = count(); }\n"
    "profile-20hz /self->at/ { @c[cpu, pid, tid, execname] = sum(timestamp - self->at);\n"
    "    self->at = timestamp; }\n"
    "profile-20hz /!self->at/ { self->at = timestamp; }\n"
    "msg:::send { @s[pid, tid, execname] = count(); }\n"
    "intr:::entry { @i[cpu] = count(); }\n"
    "BEGIN { printf(\"T %%d\\nE\\n\", timestamp); }\n"
    "tick-%us { printf(\"T %%d\\n\", timestamp);\n"
    "    printa(\"C %%d %%d %%d %%@d %%S\\n\", @c); printa(\"R %%d %%d %%@d %%S\\n\", @r);\n"
    "    printa(\"S %%d %%d %%@d %%S\\n\", @s); printa(\"I %%d %%@d\\n\", @i);\n"
    "    printa(\"P %%d %%@d\\n\", @p); printf(\"E\\n\");\n"
    "    trunc(@c); trunc(@r); trunc(@s); trunc(@i); trunc(@p); }\n";

enum { OPT_SORT = 256, OPT_ROWS, OPT_JSON };

static const struct option top_options[] = {
    {"sort", required_argument, NULL, OPT_SORT},
    {"rows", required_argument, NULL, OPT_ROWS},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct top {
    const char *target;
    unsigned long interval, count; /* count 0: until it is ended */
    unsigned long rows;
    bool is_json, is_terminal;
    struct termios before; /* of standard input, if it is a terminal */
    bool has_keys;
    struct top_child child;
    struct top_frame frame;
    struct top_style style;
    char notice[TOP_LINE];
    unsigned long shown;
    bool is_lost; /* kymo dtrace has ended by itself */
};

/* ---- options ----------------------------------------------------------------------- */

static bool top_number_parse(const char *text, unsigned long most, unsigned long *number)
{
    char *end;

    errno = 0;
    *number = strtoul(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *number >= 1 &&
           *number <= most;
}

static bool sort_parse(const char *text, enum top_sort *sort)
{
    static const char *const names[] = {"cpu", "switches", "messages", "name"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *sort = (enum top_sort)i;
            return true;
        }
    }
    return false;
}

/* Returns the exit status, -1 to continue. */
static int top_option_use(struct top *top, int option, int argc, char **argv)
{
    switch (option) {
    case 't':
        top->target = optarg;
        return -1;
    case 'd':
        return top_number_parse(optarg, 3600, &top->interval)
                   ? -1
                   : kymo_usage("top", "top: -d %s: not 1 to 3600 seconds", optarg);
    case 'n':
        return top_number_parse(optarg, UINT32_MAX, &top->count)
                   ? -1
                   : kymo_usage("top", "top: -n %s: not a number of intervals", optarg);
    case OPT_SORT:
        return sort_parse(optarg, &top->style.sort)
                   ? -1
                   : kymo_usage("top", "top: --sort %s: not cpu, switches, messages or name",
                                optarg);
    case OPT_ROWS:
        return top_number_parse(optarg, UINT32_MAX, &top->rows)
                   ? -1
                   : kymo_usage("top", "top: --rows %s: not a number of threads", optarg);
    case OPT_JSON:
        top->is_json = true;
        return -1;
    case 'h':
        return kymo_help(&kymo_top_command);
    default:
        return kymo_bad_option("top", top_options, argc, argv, option);
    }
}

static int top_options_parse(struct top *top, int argc, char **argv)
{
    int option, status = -1;

    opterr = 0;
    while (status < 0 && (option = getopt_long(argc, argv, ":t:d:n:h", top_options, NULL)) != -1) {
        status = top_option_use(top, option, argc, argv);
    }
    if (status < 0 && optind < argc) {
        return kymo_usage("top", "top: unknown argument %s", argv[optind]);
    }
    return status;
}

/* ---- the terminal ------------------------------------------------------------------ */

static void terminal_take(struct top *top)
{
    struct termios raw;

    top->is_terminal = !top->is_json && isatty(STDOUT_FILENO);
    if (top->is_terminal && isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
        tcgetattr(STDIN_FILENO, &top->before) == 0) {
        raw = top->before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        top->has_keys = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    if (top->is_terminal) {
        printf("\033[?1049h\033[?25l"); /* another screen, no cursor */
        fflush(stdout);
    }
}

static void terminal_return(struct top *top)
{
    if (top->has_keys) {
        tcsetattr(STDIN_FILENO, TCSANOW, &top->before);
    }
    if (top->is_terminal) {
        printf("\033[?25h\033[?1049l");
        fflush(stdout);
    }
}

static void frame_show(struct top *top)
{
    struct winsize size = {0};

    top->style.rows = (unsigned)top->rows;
    top->style.notice = *top->notice ? top->notice : NULL;
    top_frame_sort(&top->frame, top->style.sort);
    if (top->is_json) {
        top_show_json(stdout, &top->frame, &top->style);
    } else if (top->is_terminal) {
        bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;

        top->style.lines = known ? size.ws_row : 24;
        top->style.columns = known ? size.ws_col : 80;
        printf("\033[H");
        top_show(stdout, &top->frame, &top->style);
        printf("\033[J");
    } else {
        top_show(stdout, &top->frame, &top->style);
        putchar('\n');
    }
    fflush(stdout);
}

/* Returns false if the key ends the command. */
static bool key_use(struct top *top, char key)
{
    switch (key) {
    case 'q':
        return false;
    case 'c':
        top->style.sort = TOP_BY_CPU;
        break;
    case 's':
        top->style.sort = TOP_BY_RUNS;
        break;
    case 'm':
        top->style.sort = TOP_BY_SENT;
        break;
    case 'n':
        top->style.sort = TOP_BY_NAME;
        break;
    case ' ':
        top->style.is_paused = !top->style.is_paused;
        break;
    default:
        return true;
    }
    frame_show(top);
    return true;
}

/* ---- the loop ---------------------------------------------------------------------- */

/* Returns false when enough intervals were shown. */
static bool top_line_take(struct top *top, const char *line)
{
    if (top_frame_line(&top->frame, line) != TOP_WHOLE) {
        return true;
    }
    if (top_frame_span(&top->frame) == 0) { /* BEGIN's, from which the first interval counts */
        return true;
    }
    if (!top->style.is_paused) {
        frame_show(top);
    }
    return ++top->shown != top->count && ferror(stdout) == 0;
}

/* Messages of the consumer: its drops are counted, the latest message is shown. */
static void top_message_take(struct top *top, const char *line)
{
    const char *at = strstr(line, " drop");

    if (at != NULL) {
        while (at > line && at[-1] != ':') { /* "dtrace: 12 aggregation drops on CPU 0" */
            at--;
        }
        top->style.drops += strtoull(at, NULL, 10);
    }
    snprintf(top->notice, sizeof(top->notice), "%s", line);
}

static void top_run_loop(struct top *top)
{
    struct pollfd fds[] = {{.fd = top->child.out.fd, .events = POLLIN},
                           {.fd = top->child.err.fd, .events = POLLIN},
                           {.fd = top->has_keys ? STDIN_FILENO : -1, .events = POLLIN}};
    char line[TOP_LINE], key;
    bool more = true;

    while (more && !cmd_interrupted) {
        if (poll(fds, 3, -1) < 0) {
            continue; /* a signal: the terminal's size, or the end */
        }
        if (fds[1].revents != 0) {
            if (!top_lines_read(&top->child.err)) {
                fds[1].fd = -1;
            }
            while (top_lines_next(&top->child.err, line)) {
                top_message_take(top, line);
            }
        }
        if (fds[0].revents != 0) {
            top->is_lost = !top_lines_read(&top->child.out);
            more = !top->is_lost;
            while (more && top_lines_next(&top->child.out, line)) {
                more = top_line_take(top, line);
            }
        }
        if (fds[2].revents != 0) {
            if (read(STDIN_FILENO, &key, 1) != 1) {
                fds[2].fd = -1;
            } else {
                more = more && key_use(top, key);
            }
        }
    }
    while (fds[1].fd >= 0 && top->is_lost && !cmd_interrupted &&
           top_lines_read(&top->child.err)) { /* why it ended */
        while (top_lines_next(&top->child.err, line)) {
            top_message_take(top, line);
        }
    }
}

static int top_run(struct top *top)
{
    char *program;
    char *words[8] = {"kymo", "dtrace", "-q", "-n"};
    unsigned n = 4;

    if (asprintf(&program, top_script_text, (unsigned)top->interval) < 0) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    words[n++] = program;
    if (top->target != NULL) {
        words[n++] = "-t";
        words[n++] = (char *)top->target;
    }
    top->style.target = top->target != NULL             ? top->target
                        : getenv("KYMO_TARGET") != NULL ? getenv("KYMO_TARGET")
                                                        : "boot";
    cmd_catch_signals();
    if (!top_child_start(&top->child, words)) {
        free(program);
        return KYMO_FAILURE;
    }
    terminal_take(top);
    top_run_loop(top);
    terminal_return(top);
    top_child_end(&top->child);
    free(program);
    top_frame_free(&top->frame);
    if (top->is_lost && !cmd_interrupted) {
        kymo_error("%s", *top->notice ? top->notice : "top: kymo dtrace has ended");
        return KYMO_FAILURE;
    }
    return kymo_stdout_end(top->count > 0 && top->shown < top->count ? KYMO_FAILURE : KYMO_OK);
}

static int top_main(int argc, char **argv)
{
    static struct top top = {.interval = 1};
    int status = top_options_parse(&top, argc, argv);

    return status >= 0 ? status : top_run(&top);
}

const struct kymo_command kymo_top_command = {
    .name = "top",
    .summary = "show what runs on a target, redrawn each interval",
    .run = top_main,
    .help = top_help,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo console: the target's console on this terminal, both ways. The terminal is raw while it
 * lasts, so that ^C goes to the target; ^] ends it. What the target has kept of earlier text comes
 * first.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "host/link/cmd.h"
#include "lib/link/service.h"

#define CTRL_BRACKET 0x1d

static const char console_help[] =
    "Usage: kymo console [-t TARGET]\n"
    "\n"
    "Shows a target's console, from what it has kept on, and types what you type.\n"
    "^] ends it; so does the end of standard input, if that is not a terminal, a\n"
    "second after it.\n"
    "TARGET is unix:PATH, tcp:HOST:PORT or a serial line /dev/tty...[@BAUD].\n"
    "\n"
    "  -t TARGET      the target (default: the environment's KYMO_TARGET)\n"
    "  -h, --help     print this text\n";

static const struct option console_options[] = {
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct console {
    const char *target;
    struct session *session;
    struct channel *channel;
    bool terminal, raw;
    bool typing; /* standard input has not ended */
    struct termios modes;
};

static void terminal_raw(struct console *console)
{
    struct termios raw;

    console->terminal = isatty(STDIN_FILENO);
    if (!console->terminal || tcgetattr(STDIN_FILENO, &console->modes) != 0) {
        return;
    }
    raw = console->modes;
    cfmakeraw(&raw);
    raw.c_oflag |= OPOST;
    console->raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

static void terminal_restore(struct console *console)
{
    if (console->raw) {
        tcsetattr(STDIN_FILENO, TCSADRAIN, &console->modes);
        console->raw = false;
    }
}

/* Writes all that has arrived. Returns 0 or -EPIPE. */
static int link_console_show_output(struct console *console, int timeout_ms)
{
    uint8_t text[4096];
    long got;

    while ((got = channel_receive(console->channel, text, sizeof(text), timeout_ms)) >= 0) {
        if (fwrite(text, 1, (size_t)got, stdout) != (size_t)got || fflush(stdout) != 0) {
            return -EIO;
        }
    }
    return got == -EAGAIN ? 0 : (int)got;
}

/* 1: the user has enough. */
static int link_console_send_input(struct console *console)
{
    uint8_t keys[LINK_CONSOLE_MOST];
    ssize_t got = read(STDIN_FILENO, keys, sizeof(keys));

    if (got <= 0) {
        console->typing = got < 0 && errno == EINTR;
        return 0;
    }
    const uint8_t *end = console->raw ? memchr(keys, CTRL_BRACKET, (size_t)got) : NULL;
    size_t count = end ? (size_t)(end - keys) : (size_t)got;
    int error = count > 0 ? channel_send(console->channel, keys, count) : 0;
    return error ? error : end != NULL;
}

static int link_console_serve_terminal(struct console *console)
{
    int result = 0;

    while (result == 0 && !cmd_interrupted) {
        struct pollfd fds[2] = {
            {.fd = session_descriptor(console->session), .events = POLLIN},
            {.fd = console->typing ? STDIN_FILENO : -1, .events = POLLIN},
        };

        result = link_console_show_output(console, 0);
        if (result != 0) {
            break;
        }
        if (!console->typing && !console->terminal) {
            return link_console_show_output(console, 1000);
        }
        if (poll(fds, 2, 1000) > 0 && fds[1].revents) {
            result = link_console_send_input(console);
        }
    }
    return result;
}

static int console_run(struct console *console)
{
    int result;

    console->channel = cmd_open(console->target, "console", &console->session);
    if (console->channel == NULL) {
        return KYMO_FAILURE;
    }
    console->typing = true;
    terminal_raw(console);
    result = link_console_serve_terminal(console);
    terminal_restore(console);
    if (result == -EPIPE) {
        result = cmd_lost(console->session, console->target);
    } else if (result < 0) {
        kymo_error("console: %s", strerror(-result));
        result = KYMO_FAILURE;
    } else {
        result = KYMO_OK;
    }
    session_close(console->session);
    return result;
}

static int console_main(int argc, char **argv)
{
    static struct console console;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":t:h", console_options, NULL)) != -1) {
        if (option == 'h') {
            return kymo_help(&kymo_console_command);
        }
        if (option != 't') {
            return kymo_bad_option("console", console_options, argc, argv, option);
        }
        console.target = optarg;
    }
    console.target = cmd_target(console.target);
    if (console.target == NULL || optind < argc) {
        return console.target == NULL
                   ? kymo_usage("console", "console: no target: give -t TARGET or KYMO_TARGET")
                   : kymo_usage("console", "console: unknown argument %s", argv[optind]);
    }
    cmd_catch_signals();
    return console_run(&console);
}

const struct kymo_command kymo_console_command = {
    .name = "console",
    .summary = "show a target's console and type into it",
    .run = console_main,
    .help = console_help,
};

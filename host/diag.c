/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages, help and progress of the host command. Whatever a message quotes, of a capture, a
 * target or a file name, reaches the terminal escaped. Tested by test/host/check.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/escape.h"
#include "host/kymo.h"
#include "host/nearest.h"

static bool progress_shown;
static int progress_fd = STDERR_FILENO;

void kymo_messages_start(void)
{
    static struct escape_stream state;
    FILE *escaped = escape_stream_open(&state, STDERR_FILENO);

    if (escaped) {
        setvbuf(escaped, NULL, _IONBF, 0);
        stderr = escaped;
    }
}

/* The line of progress is the command's own: it is written to the terminal unchanged. */
void kymo_progress_end(void)
{
    if (progress_shown) {
        dprintf(progress_fd, "\r\033[K");
        progress_shown = false;
    }
}

void kymo_progress_on(int fd)
{
    progress_fd = fd;
}

static void diag_print_message(const char *format, va_list args)
{
    kymo_progress_end();
    fputs("kymo: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void kymo_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    diag_print_message(format, args);
    va_end(args);
}

void kymo_no_memory(void)
{
    kymo_error("out of memory");
    exit(KYMO_FAILURE); /* which removes the parts of outputs */
}

int kymo_usage(const char *command, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    diag_print_message(format, args);
    va_end(args);
    fprintf(stderr, "Try `kymo help%s%s`.\n", command == NULL ? "" : " ",
            command == NULL ? "" : command);
    return KYMO_USAGE;
}

int kymo_bad_option(const char *command, const struct option *options, int argc, char **argv,
                    int result)
{
    const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";

    if (result == ':') {
        return kymo_usage(command, "%s: option %s needs a value", command, word);
    }
    if (optopt != 0 && word[0] == '-' && word[1] == '-') {
        return kymo_usage(command, "%s: option %s takes no value", command, word);
    }
    if (optopt != 0) {
        return kymo_usage(command, "%s: unknown option -%c", command, optopt);
    }
    struct nearest nearest = {.word = word};
    nearest_offer_options(&nearest, options);
    return kymo_usage(command, "%s: unknown option %s%s", command, word, nearest_hint(&nearest));
}

/* True if standard output is a pipe or a socket whose reader has gone. */
static bool reader_is_gone(void)
{
    struct pollfd at = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&at, 1, 0) == 1 && (at.revents & POLLERR) != 0;
}

int kymo_stdout_end(int status)
{
    int error = ferror(stdout) ? EIO : 0; /* an earlier write has failed: its errno is gone */

    errno = 0;
    if (fflush(stdout) != 0 && errno != 0) {
        error = errno;
    }
    if (error == 0 || error == EPIPE || reader_is_gone()) {
        return status;
    }
    kymo_error("standard output: cannot write: %s", strerror(error));
    return status == KYMO_OK ? KYMO_FAILURE : status;
}

int kymo_help(const struct kymo_command *command)
{
    fputs(command->help, stdout);
    return kymo_stdout_end(KYMO_OK);
}

void kymo_progress(void *what, uint64_t done, uint64_t total)
{
    enum { NAME = 200 };
    static time_t last;
    static char last_what[NAME + 1]; /* a copy: what may be gone by the next call */
    time_t now = time(NULL);
    char name[ESCAPE_MOST(NAME)];
    size_t n;

    if ((now == last && strncmp(what, last_what, NAME) == 0) || total == 0 ||
        !isatty(progress_fd)) {
        return;
    }
    last = now;
    n = strnlen(what, NAME);
    memcpy(last_what, what, n);
    last_what[n] = '\0';
    progress_shown = true;
    n = escape_line(what, n, name);
    /* The rest of the line is erased: the name before may have been longer. */
    dprintf(progress_fd, "\r%.*s: %3u %%\033[K", (int)n, name,
            (unsigned)(done * 100.0 / (double)total));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that help: node, curl, sha256sum. Their own messages go where the command's go, unless
 * they are joined with their output.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/fleet/fleet.h"
#include "host/home.h"
#include "host/kymo.h"

#define WATCH_MS 100

volatile int fleet_stopped;

static void fleet_on_signal(int number)
{
    fleet_stopped = number;
}

void fleet_signals_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = fleet_on_signal};

    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        sigaction(numbers[i], &action, NULL);
    }
}

void fleet_signals_end(void)
{
    if (fleet_stopped != 0) {
        signal(fleet_stopped, SIG_DFL);
        raise(fleet_stopped);
    }
}

/* In the child: its descriptors, then the program. */
static void fleet_exec_program(char *const argv[], int input, int output, int config, bool joined,
                               int told)
{
    int error;

    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    if (joined) {
        dup2(output, STDERR_FILENO);
    }
    if (config >= 0) {
        dup2(config, 3);
    }
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp(argv[0], argv);
    error = errno;
    if (write(told, &error, sizeof(error)) < 0) {
        _exit(126);
    }
    _exit(127);
}

/* A pipe whose ends are above descriptor 3, which the child's configuration has. */
static int pipe_make(int ends[2])
{
    int low[2];

    if (pipe2(low, O_CLOEXEC) != 0) {
        return -1;
    }
    for (unsigned i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 10);
        close(low[i]);
    }
    return ends[0] < 0 || ends[1] < 0 ? -1 : 0;
}

static void pipe_close(int ends[2])
{
    for (unsigned i = 0; i < 2; i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
        ends[i] = -1;
    }
}

static int start_failed(char *const argv[], const char *remedy, int error)
{
    if (error == ENOENT) {
        kymo_error("%s is not installed: %s", argv[0], remedy);
    } else {
        kymo_error("%s: can't be run: %s", argv[0], strerror(error));
    }
    return -1;
}

int fleet_child_start(struct fleet_child *child, char *const argv[], int input, const char *config,
                      bool joined, const char *remedy)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, extra[2] = {-1, -1}, told[2] = {-1, -1};
    int error = 0;

    *child = (struct fleet_child){.pid = -1, .to = -1, .from = -1};
    if ((input < 0 && pipe_make(in) != 0) || pipe_make(out) != 0 || pipe_make(told) != 0 ||
        (config != NULL && pipe_make(extra) != 0)) {
        error = errno;
    }
    /* Nobody reads the text yet, so it has to fit into the pipe. */
    if (error == 0 && config != NULL &&
        (fcntl(extra[1], F_SETPIPE_SZ, (int)strlen(config) + 4096) < 0 ||
         write(extra[1], config, strlen(config)) != (ssize_t)strlen(config))) {
        error = errno;
    }
    if (error == 0 && (child->pid = fork()) < 0) {
        error = errno;
    }
    if (error == 0 && child->pid == 0) {
        fleet_exec_program(argv, input < 0 ? in[0] : input, out[1], extra[0], joined, told[1]);
    }
    if (error == 0) {
        close(told[1]);
        told[1] = -1;
        while (read(told[0], &error, sizeof(error)) < 0 && errno == EINTR) {
        }
        child->to = fcntl(in[1], F_DUPFD_CLOEXEC, 10);
        child->from = fcntl(out[0], F_DUPFD_CLOEXEC, 10);
    }
    pipe_close(in);
    pipe_close(out);
    pipe_close(extra);
    pipe_close(told);
    if (error != 0) {
        fleet_child_kill(child);
        return start_failed(argv, remedy, error);
    }
    return 0;
}

static void end_close(int *end)
{
    if (*end >= 0) {
        close(*end);
    }
    *end = -1;
}

int fleet_child_end(struct fleet_child *child, char *text, size_t room)
{
    char dropped[4096];
    size_t used = 0;
    int status = -1;
    ssize_t n;

    end_close(&child->to);
    do {
        bool keep = used + 1 < room;

        n = read(child->from, keep ? text + used : dropped,
                 keep ? room - 1 - used : sizeof(dropped));
        used += keep && n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EINTR && fleet_stopped == 0));
    if (room > 0) {
        text[used] = '\0';
    }
    end_close(&child->from);
    if (fleet_stopped != 0) {
        kill(child->pid, SIGTERM);
    }
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    child->pid = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool fleet_child_line(struct fleet_child *child, char *text, size_t room)
{
    size_t used = 0;
    ssize_t n;
    char c;

    while ((n = read(child->from, &c, 1)) == 1 || (n < 0 && errno == EINTR && fleet_stopped == 0)) {
        if (n == 1 && c == '\n') {
            text[used] = '\0';
            return true;
        }
        if (n == 1 && used + 1 < room) {
            text[used++] = c;
        }
    }
    text[used] = '\0';
    return false;
}

static bool more_said(const struct fleet_child *child)
{
    struct pollfd said = {.fd = child->from, .events = POLLIN};

    return poll(&said, 1, 0) > 0;
}

bool fleet_child_answer(struct fleet_child *child, char *what, char *text, size_t room)
{
    unsigned number, percent = 0;
    char sign;
    bool given, late = false;

    while ((given = fleet_child_line(child, text, room)) &&
           sscanf(text, "%3u %c", &number, &sign) == 2 && sign == '%') {
        /* Text that came while nobody read is old: only its end is shown. */
        percent = number;
        late = more_said(child);
        if (!late) {
            kymo_progress(what, percent, 100);
        }
    }
    if (late) {
        kymo_progress(what, percent, 100);
    }
    return given;
}

void fleet_child_watch(const struct fleet_child *child, const char *what, int input, uint64_t total)
{
    struct pollfd said = {.fd = child->from, .events = POLLIN};

    while (fleet_stopped == 0 && poll(&said, 1, WATCH_MS) == 0) {
        off_t at = lseek(input, 0, SEEK_CUR); /* the child's, too: one open file */

        kymo_progress((void *)(uintptr_t)what, at < 0 ? 0 : (uint64_t)at, total);
    }
    kymo_progress_end();
}

void fleet_child_kill(struct fleet_child *child)
{
    end_close(&child->to);
    end_close(&child->from);
    if (child->pid > 0) {
        kill(child->pid, SIGKILL);
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    child->pid = -1;
}

/* ---- files ------------------------------------------------------------------------- */

bool fleet_file(const char *name, char path[PATH_MAX])
{
    struct home home;
    int n = -1;

    if (home_find(&home)) {
        n = home.tree[0] != '\0' ? snprintf(path, PATH_MAX, "%s/host/fleet/%s", home.tree, name)
                                 : snprintf(path, PATH_MAX, "%s/fleet/%s", home.boards, name);
    }
    if (n < 0 || n >= PATH_MAX || access(path, R_OK) != 0) {
        kymo_error("%s, which comes with kymo, is not found: install kymo with make install", name);
        return false;
    }
    return true;
}

bool fleet_duckdb(char path[PATH_MAX])
{
    struct home home;

    if (home_find(&home) &&
        snprintf(path, PATH_MAX, "%s/query/node_modules/@duckdb/node-api", home.boards) <
            PATH_MAX &&
        access(path, R_OK) == 0) {
        return true;
    }
    kymo_error("DuckDB's module for node is not installed: run `make install-query` in kymo's "
               "sources (it needs npm)");
    return false;
}

void fleet_folder_remove(const char *path)
{
    char *paths[] = {(char *)path, NULL};
    FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

    for (FTSENT *e; fts != NULL && (e = fts_read(fts)) != NULL;) {
        if (e->fts_info == FTS_DP) {
            rmdir(e->fts_path);
        } else if (e->fts_info != FTS_D) {
            unlink(e->fts_path);
        }
    }
    if (fts != NULL) {
        fts_close(fts);
    }
}

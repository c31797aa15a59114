/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the source tree is, and building an image with its make. What make says goes to standard
 * error: standard output is the guest's.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/run/run.h"
#include "host/temporary.h"

/* The executable is <root>/build/kymo. */
int run_find_root(struct run *run)
{
    ssize_t len = readlink("/proc/self/exe", run->root, sizeof(run->root) - 1);

    if (len <= 0) {
        kymo_error("cannot find where kymo lies: %s", strerror(errno));
        return -1;
    }
    run->root[len] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(run->root, '/');

        if (slash == NULL || slash == run->root) {
            kymo_error("kymo is not in the build/ of its source tree: nothing to build or boot");
            return -1;
        }
        *slash = '\0';
    }
    return 0;
}

static void make_exec(struct run *run, char *board, char *image, FILE *log)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (log != NULL) {
        dup2(fileno(log), STDERR_FILENO);
    }
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execlp("make", "make", "-s", "-C", run->root, "image", board, image, (char *)NULL);
    fprintf(stderr, "kymo: cannot run make: %s\n", strerror(errno));
    _exit(127);
}

/* make's status as wait() gives it, or -1. */
static int make(struct run *run, FILE *log)
{
    char board[PATH_MAX], image[PATH_MAX];
    int status = 0;
    pid_t pid;

    snprintf(board, sizeof(board), "BOARD=%s", run->board);
    snprintf(image, sizeof(image), "IMAGE=%s", run->image);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        make_exec(run, board, image, log);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            pid = -1;
        }
    }
    return pid < 0 ? -1 : status;
}

static void show(FILE *log)
{
    char text[4096];
    size_t n;

    rewind(log);
    while ((n = fread(text, 1, sizeof(text), log)) > 0) {
        fwrite(text, 1, n, stderr);
    }
}

int run_build(struct run *run)
{
    FILE *log = run->quiet_build ? temporary_stream() : NULL;
    int status = make(run, log);

    if (status != 0 && log != NULL) {
        show(log);
    }
    if (log != NULL) {
        fclose(log);
    }
    if (status < 0) {
        kymo_error("cannot run make: %s", strerror(errno));
    } else if (status != 0) {
        kymo_error("cannot build %s for %s%s", run->image, run->board,
                   run->quiet_build ? "" : "; --no-build boots what is there");
    }
    return status == 0 ? 0 : -1;
}

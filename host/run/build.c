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

static void make_exec(struct run *run, char *board, char *image)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execlp("make", "make", "-s", "-C", run->root, "image", board, image, (char *)NULL);
    fprintf(stderr, "kymo: cannot run make: %s\n", strerror(errno));
    _exit(127);
}

int run_build(struct run *run)
{
    char board[PATH_MAX], image[PATH_MAX];
    int status = 0;
    pid_t pid;

    snprintf(board, sizeof(board), "BOARD=%s", run->board);
    snprintf(image, sizeof(image), "IMAGE=%s", run->image);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        make_exec(run, board, image);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            pid = -1;
        }
    }
    if (pid < 0) {
        kymo_error("cannot run make: %s", strerror(errno));
        return -1;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        kymo_error("cannot build %s for %s; --no-build boots what is there", run->image,
                   run->board);
        return -1;
    }
    return 0;
}

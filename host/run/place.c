/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QEMU's working directory. The guest opens `trace.kev` there by semihosting: with --capture it is
 * a fresh directory in which trace.kev points to the file asked for; else build/<board>, where an
 * old trace.kev is removed first, so that one is there afterwards only if this boot made it; of an
 * installed kymo, the current directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/run/run.h"
#include "host/temporary.h"

/* The absolute path of a file that need not exist yet. */
static int absolute_path(const char *path, char *to, size_t room)
{
    char here[PATH_MAX];
    int len;

    if (path[0] == '/') {
        len = snprintf(to, room, "%s", path);
    } else if (getcwd(here, sizeof(here)) == NULL) {
        return -1;
    } else {
        len = snprintf(to, room, "%s/%s", here, path);
    }
    return len < (int)room ? 0 : -1;
}

/* The capture is made empty now, once no other run writes it: a boot without one must not leave an
 * old one behind. */
static int capture_prepare(struct run *run, char *target, size_t room)
{
    struct stat st;
    int fd;

    if (absolute_path(run->capture, target, room) != 0) {
        kymo_error("%s: the path is too long", run->capture);
        return -1;
    }
    fd = open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || fstat(fd, &st) != 0) {
        kymo_error("%s: cannot write: %s", run->capture, strerror(errno));
        return -1;
    }
    if (!S_ISREG(st.st_mode)) { /* a device or a pipe */
        close(fd);
        return 0;
    }
    if (run_hold(run, fd, run->capture, ": --capture with another name") != 0) {
        close(fd);
        return -1;
    }
    if (ftruncate(fd, 0) != 0) {
        kymo_error("%s: cannot write: %s", run->capture, strerror(errno));
        return -1;
    }
    return 0;
}

static int temporary_make(struct run *run, const char *target)
{
    char link[PATH_MAX + 16];

    if (temporary_directory("run", run->dir, sizeof(run->dir)) != 0) {
        kymo_error("cannot make a temporary directory in %s: %s", temporary_place(),
                   strerror(errno));
        return -1;
    }
    run->dir_is_temporary = true;
    snprintf(link, sizeof(link), "%s/trace.kev", run->dir);
    if (symlink(target, link) != 0) {
        kymo_error("%s: cannot make: %s", link, strerror(errno));
        return -1;
    }
    return 0;
}

static void capture_path(const struct run *run, char path[PATH_MAX + 16])
{
    snprintf(path, PATH_MAX + 16, "%s/trace.kev", run->dir);
}

/* An installed kymo has no build folder: the guest's files are in the current directory, where
 * nothing is replaced unasked. */
static int current_place(struct run *run)
{
    char path[PATH_MAX + 16];

    if (getcwd(run->dir, sizeof(run->dir)) == NULL) {
        kymo_error("cannot find the current directory: %s", strerror(errno));
        return -1;
    }
    capture_path(run, path);
    if (access(path, F_OK) == 0) {
        kymo_error("%s is there already: --capture FILE names another, or replaces it", path);
        return -1;
    }
    return run_hold_path(run, run->dir, ": --capture FILE gives a run a folder of its own");
}

static int board_place(struct run *run)
{
    char path[PATH_MAX + 16];

    if (run->home.tree[0] == '\0') {
        return current_place(run);
    }
    if (snprintf(run->dir, sizeof(run->dir), "%.2000s/%.200s", run->home.boards, run->board) < 0) {
        return -1;
    }
    if (run_hold_path(run, run->dir, ": --capture FILE gives a run a folder of its own") != 0) {
        return -1;
    }
    capture_path(run, path);
    unlink(path);
    return 0;
}

static void tell_if_empty(const struct run *run)
{
    struct stat st;

    fflush(stdout);
    if (stat(run->capture, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0) {
        kymo_error("%s is empty: the guest wrote nothing to its trace.kev", run->capture);
    }
}

void run_place_tell(const struct run *run)
{
    char path[PATH_MAX + 16], here[PATH_MAX];
    size_t skip = 0;

    if (run->capture != NULL) {
        tell_if_empty(run);
        return;
    }
    capture_path(run, path);
    if (access(path, R_OK) != 0) {
        return;
    }
    if (getcwd(here, sizeof(here)) != NULL && strncmp(path, here, strlen(here)) == 0 &&
        path[strlen(here)] == '/') {
        skip = strlen(here) + 1;
    }
    fflush(stdout);
    kymo_error("the capture: %s", path + skip);
}

int run_place(struct run *run)
{
    char target[PATH_MAX];

    if (run->capture == NULL) {
        return board_place(run);
    }
    if (capture_prepare(run, target, sizeof(target)) != 0) {
        return -1;
    }
    return temporary_make(run, target);
}

/* What the guest wrote under other names is not ours to remove. */
void run_place_remove(struct run *run)
{
    char path[PATH_MAX + 16];

    if (!run->dir_is_temporary) {
        return;
    }
    capture_path(run, path);
    unlink(path);
    if (rmdir(run->dir) != 0) {
        kymo_error("the guest's other files: %s", run->dir);
    }
    run->dir_is_temporary = false;
}

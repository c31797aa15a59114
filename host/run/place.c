/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QEMU's working directory. The guest opens `trace.kev` there by semihosting. No capture is lost to
 * a run that makes none:
 *
 *   --capture FILE          the directory is a temporary one, in which trace.kev is a link to FILE.
 *                           A FILE that holds something is refused;
 *   --capture FILE --force  the link leads to FILE.kymo-XXXXXX.part, which is renamed to FILE if it
 *                           has its end mark, and is unchanged if the capture was cut short;
 *   neither                 the directory is build/<board>. An earlier trace.kev becomes
 *                           trace.old.kev, so that trace.kev exists afterwards only if this run
 *                           made it, and is removed once the new one has its end mark. A run that
 *                           was killed leaves both; the next one keeps the one that is whole.
 *
 * An installed kymo has no build folder: there the directory is the current one, and an earlier
 * trace.kev is refused without --force. Proof: test/host/run/check.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/output_path.h"
#include "host/reader/kev.h"
#include "host/run/run.h"
#include "host/temporary.h"

#define PATH_ROOM (PATH_MAX + 16)

/* ---- --capture FILE -------------------------------------------------------------------------- */

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

static int target_find(struct run *run, const char *path)
{
    if (absolute_path(path, run->target, sizeof(run->target)) != 0) {
        kymo_error("%s: the path is too long", run->capture);
        return -1;
    }
    return 0;
}

int run_place_capture(struct run *run)
{
    enum output_policy policy = run->force ? OUTPUT_FORCE : OUTPUT_NEW;
    struct stat st;
    char *target;
    bool there;
    int result;

    if (run->capture == NULL) {
        return 0;
    }
    there = stat(run->capture, &st) == 0;
    if (there && !S_ISREG(st.st_mode)) { /* a device or a pipe */
        return output_check(run->capture, policy) == 0 ? target_find(run, run->capture) : -1;
    }
    run->target_is_ours = !there;
    target = output_follow_links(run->capture);
    if (target == NULL) {
        kymo_error("%s: cannot write: %s", run->capture, strerror(errno));
        return -1;
    }
    result = target_find(run, target);
    free(target);
    /* The lock first: a file that another run writes is in use, whatever is in it by now. */
    if (result != 0 ||
        run_hold_file(run, run->target, run->capture, ": --capture with another name") != 0) {
        run->target_is_ours = false;
        return -1;
    }
    return output_check(run->capture, policy) == 0 ? 0 : -1;
}

/* Begins the file that is to replace the target, and makes that one the target. */
static int part_begin(struct run *run)
{
    char name[40];
    ssize_t length;

    if (output_open(&run->part, run->capture, OUTPUT_FORCE) != 0) {
        return -1;
    }
    run->has_part = true;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", run->part.fd);
    length = readlink(name, run->target, sizeof(run->target) - 1);
    if (length < 0) {
        kymo_error("%s: cannot write: %s", run->capture, strerror(errno));
        return -1;
    }
    run->target[length] = '\0';
    return 0;
}

static int temporary_make(struct run *run)
{
    static const char *const files[] = {"trace.kev", NULL};
    char link[PATH_ROOM];
    struct stat st;
    int held;

    if (stat(run->target, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        part_begin(run) != 0) {
        return -1;
    }
    held = temporary_directory_hold("run", files, run->dir, sizeof(run->dir));
    if (held < 0) {
        kymo_error("cannot make a temporary directory in %s: %s", temporary_place(),
                   strerror(errno));
        return -1;
    }
    run->dir_held = held;
    snprintf(link, sizeof(link), "%s/trace.kev", run->dir);
    if (symlink(run->target, link) != 0) {
        kymo_error("%s: cannot make: %s", link, strerror(errno));
        return -1;
    }
    return 0;
}

static bool is_empty_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
}

/* Returns false if the capture was cut. A file of another format is accepted unchanged. */
static bool is_finished(const char *path)
{
    struct kev_options options = {.recover = true};
    struct kev_error error;
    struct kev *kev;
    bool finished;

    if (!output_is_capture(path)) {
        return !is_empty_file(path);
    }
    kev = kev_open(path, &options, &error);
    finished = kev != NULL && (kev_info(kev)->ended || !kev_info(kev)->checked);
    if (kev != NULL) {
        kev_close(kev);
    }
    return finished;
}

/* The path as seen from the current directory, if it is below it. */
static const char *short_path(const char *path)
{
    char here[PATH_MAX];
    size_t length;

    if (getcwd(here, sizeof(here)) == NULL) {
        return path;
    }
    length = strlen(here);
    return strncmp(path, here, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

static int capture_finish(struct run *run)
{
    bool empty = is_empty_file(run->target);

    run->target_is_ours = false;
    if (!run->has_part) {
        if (empty) {
            kymo_error("%s is empty: the guest wrote nothing to its trace.kev", run->capture);
        }
        return 0;
    }
    run->has_part = false;
    if (empty) {
        output_abandon(&run->part);
        kymo_error("%s unchanged: the guest wrote nothing to its trace.kev", run->capture);
        return 0;
    }
    if (!is_finished(run->target)) {
        output_leave_part(&run->part);
        kymo_error("%s unchanged: the new capture is cut short: %s", run->capture,
                   short_path(run->target));
        return 0;
    }
    return output_commit(&run->part) == 0 ? 0 : -1;
}

/* ---- the board's folder, or the current directory ---------------------------------- */

static void capture_path(const struct run *run, const char *name, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%s/%s", run->dir, name);
}

/* An earlier run's trace.kev becomes trace.old.kev, unless it is the unfinished one of a run that
 * was killed and a whole one exists already. */
static int earlier_set_aside(struct run *run)
{
    char path[PATH_ROOM], old[PATH_ROOM];

    capture_path(run, "trace.kev", path);
    capture_path(run, "trace.old.kev", old);
    if (is_empty_file(path) || (access(old, F_OK) == 0 && !is_finished(path))) {
        unlink(path);
    }
    if (rename(path, old) == 0) {
        run->set_aside = true;
    } else if (errno != ENOENT) {
        kymo_error("%s: cannot rename it to trace.old.kev: %s: --capture FILE names another", path,
                   strerror(errno));
        return -1;
    }
    return 0;
}

static int current_place(struct run *run)
{
    char path[PATH_ROOM];

    if (getcwd(run->dir, sizeof(run->dir)) == NULL) {
        kymo_error("cannot find the current directory: %s", strerror(errno));
        return -1;
    }
    capture_path(run, "trace.kev", path);
    if (!run->force && access(path, F_OK) == 0) {
        kymo_error("%s exists: --capture FILE names another, --force replaces it", path);
        return -1;
    }
    return 0;
}

static int board_place(struct run *run)
{
    if (run->home.tree[0] == '\0') {
        if (current_place(run) != 0) {
            return -1;
        }
    } else if (snprintf(run->dir, sizeof(run->dir), "%.2000s/%.200s", run->home.boards,
                        run->board) < 0) {
        return -1;
    }
    if (run_hold_path(run, run->dir, ": --capture FILE gives a run a folder of its own") != 0) {
        return -1;
    }
    return earlier_set_aside(run);
}

static void board_finish(const struct run *run)
{
    char path[PATH_ROOM], old[PATH_ROOM];
    bool made, finished;

    capture_path(run, "trace.kev", path);
    capture_path(run, "trace.old.kev", old);
    made = access(path, R_OK) == 0;
    finished = made && is_finished(path);
    if (made && is_empty_file(path)) {
        kymo_error("%s is empty: the guest wrote nothing to it", short_path(path));
    } else if (made) {
        kymo_error("the capture: %s%s", short_path(path), finished ? "" : " (cut short)");
    }
    if (finished) {
        unlink(old);
    } else if (run->set_aside) {
        kymo_error("the capture of an earlier run: %s", short_path(old));
    }
}

/* ---- both -------------------------------------------------------------------------- */

int run_place(struct run *run)
{
    return run->capture == NULL ? board_place(run) : temporary_make(run);
}

int run_place_finish(struct run *run)
{
    fflush(stdout);
    if (run->capture != NULL) {
        return capture_finish(run);
    }
    board_finish(run);
    return 0;
}

/* Files that the guest wrote under other names are not removed. */
void run_place_remove(struct run *run)
{
    char path[PATH_ROOM];

    if (run->has_part) {
        output_abandon(&run->part);
        run->has_part = false;
    }
    if (run->target_is_ours && is_empty_file(run->target)) { /* nothing was booted */
        unlink(run->target);
    }
    if (run->dir_held == 0) {
        return;
    }
    capture_path(run, "trace.kev", path);
    unlink(path);
    if (rmdir(run->dir) != 0) {
        kymo_error("the guest's other files: %s", run->dir);
    }
    close(run->dir_held);
    run->dir_held = 0;
}

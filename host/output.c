/* SPDX-License-Identifier: BSD-2-Clause */
/* See output.h. */
#define _GNU_SOURCE 1 /* renameat2() */
#include "host/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/output_part.h"
#include "host/output_path.h"

/* ---- a signal that ends the command ------------------------------------------------ */

static struct output *open_outputs;
static const char *const *open_folders;

void output_remove_parts(void)
{
    for (struct output *at = open_outputs; at; at = at->next) {
        if (at->part) {
            unlinkat(at->folder, at->part, 0);
        }
    }
    for (const char *const *at = open_folders; at && *at; at++) {
        if (unlink(*at) != 0) { /* no file */
            rmdir(*at);
        }
    }
}

static pid_t output_owner; /* the process that opened them: its children have the lists, too */
static void output_on_signal(int signo)
{
    if (getpid() == output_owner) {
        output_remove_parts();
    }
    raise(signo); /* SA_RESETHAND: it ends the process now */
}

static const struct sigaction output_ending = {.sa_handler = output_on_signal,
                                               .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
static const int output_ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

void output_hold_signals(sigset_t *before)
{
    sigset_t held;

    sigemptyset(&held);
    for (size_t i = 0; i < sizeof(output_ending_signals) / sizeof(output_ending_signals[0]); i++) {
        sigaddset(&held, output_ending_signals[i]);
    }
    sigprocmask(SIG_BLOCK, &held, before);
}

/* Commands that catch signals themselves do so before they open an output. */
static void catch_signals(void)
{
    for (size_t i = 0; i < sizeof(output_ending_signals) / sizeof(output_ending_signals[0]); i++) {
        struct sigaction action;

        if (sigaction(output_ending_signals[i], NULL, &action) == 0 &&
            action.sa_handler == SIG_DFL) {
            sigaction(output_ending_signals[i], &output_ending, NULL);
        }
    }
}

/* Where memory is short the command ends by exit() from wherever it is. A child process has its
 * parent's list, but none of its outputs. */
static void output_on_exit(void)
{
    if (getpid() == output_owner) {
        output_remove_parts();
    }
}

void output_catch_signals(bool pipe)
{
    catch_signals();
    if (pipe) {
        sigaction(SIGPIPE, &output_ending, NULL);
    }
}

static void output_watch_end(void)
{
    catch_signals();
    if (output_owner == 0) {
        atexit(output_on_exit);
    }
    output_owner = getpid();
}

void output_remove_folders(const char *const *paths)
{
    open_folders = paths;
    output_watch_end();
}

static void list_add(struct output *output)
{
    output->next = open_outputs;
    open_outputs = output;
}

static void list_remove(struct output *output)
{
    for (struct output **at = &open_outputs; *at; at = &(*at)->next) {
        if (*at == output) {
            *at = output->next;
            return;
        }
    }
}

/* ---- opening ----------------------------------------------------------------------- */

static int output_fail_with(const struct output *output, int error)
{
    if (error != EPIPE) {
        kymo_error("%s: cannot write: %s",
                   strcmp(output->path, "-") == 0 ? "standard output" : output->path,
                   strerror(error));
    }
    return -error;
}

static int refuse_input(const struct output *output)
{
    kymo_error("%s: would be written to while it is read: give another file",
               strcmp(output->path, "-") == 0 ? "standard output" : output->path);
    return -EEXIST;
}

static int open_as_it_is(struct output *output, int fd)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0) {
        return output_fail_with(output, errno);
    }
    if (output_stat_is_read(&st)) {
        close(fd);
        return refuse_input(output);
    }
    output->fd = fd;
    list_add(output);
    return 0;
}

static int refuse_existing(const struct output *output, const char *path, const struct stat *st,
                           enum output_policy policy)
{
    if (output_stat_is_read(st)) {
        return refuse_input(output);
    }
    if (S_ISDIR(st->st_mode)) {
        return output_fail_with(output, EISDIR);
    }
    if (S_ISBLK(st->st_mode)) {
        kymo_error("%s: a disk, which is not written to: give a file", output->path);
        return -EINVAL;
    }
    if (!S_ISREG(st->st_mode)) {
        return 0;
    }
    if (access(path, W_OK) != 0) {
        return output_fail_with(output, errno);
    }
    if (st->st_size > 0 && policy != OUTPUT_FORCE && policy != OUTPUT_LATER &&
        (policy == OUTPUT_NEW || output_is_capture(path))) {
        kymo_error("%s: %s already: --force replaces it", output->path,
                   output_is_capture(path) ? "a capture is there" : "exists");
        return -EEXIST;
    }
    return 0;
}

static mode_t mode_of_new_files(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* The part, in the file's folder; a long name is shortened to make room for its suffix. */
static int open_part(struct output *output, const char *path, mode_t mode)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name), room = NAME_MAX - strlen(OUTPUT_PART_SUFFIX);
    char *folder = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup("./");
    char *part = NULL;
    int error = 0;

    output->name = strdup(name);
    if (!folder || !output->name ||
        asprintf(&part, "%s%.*s" OUTPUT_PART_SUFFIX, folder, (int)(length < room ? length : room),
                 name) < 0) {
        part = NULL;
        error = ENOMEM;
    } else if (length == 0 || length > NAME_MAX) {
        error = length ? ENAMETOOLONG : EISDIR;
    }
    output->folder = error ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (output->folder >= 0) {
        output_part_remove_dead(folder, strrchr(part, '/') + 1);
    }
    output->fd = output->folder < 0 ? -1 : output_part_create(part);
    error = error == 0 && output->fd < 0 ? errno : error;
    output->part = output->fd < 0 ? NULL : strdup(strrchr(part, '/') + 1);
    if (output->fd >= 0 && !output->part) {
        unlink(part);
        error = ENOMEM;
    }
    free(folder);
    free(part);
    if (error == 0 && fchmod(output->fd, mode) != 0 && errno != EPERM && errno != ENOTSUP) {
        error = errno;
    }
    return error;
}

static void output_release_part(struct output *output)
{
    list_remove(output);
    if (output->stream) {
        fclose(output->stream);
    } else if (output->fd >= 0) {
        close(output->fd);
    }
    if (output->folder >= 0) {
        close(output->folder);
    }
    free(output->name);
    free(output->part);
    *output = (struct output){.path = output->path, .fd = -1, .folder = -1};
}

static int output_open_direct(struct output *output, const char *path, enum output_policy policy)
{
    struct stat st;
    sigset_t before;
    bool there = stat(path, &st) == 0;
    int result = there             ? refuse_existing(output, path, &st, policy)
                 : errno == ENOENT ? 0
                                   : output_fail_with(output, errno);

    if (result != 0) {
        return result;
    }
    if (there && !S_ISREG(st.st_mode)) {
        return open_as_it_is(output, open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY));
    }
    output->replaces = there && (st.st_size == 0 || policy != OUTPUT_LATER);
    output_watch_end();
    list_add(output);
    /* Between the file's creation and the note of its name no signal may end the command. */
    output_hold_signals(&before);
    result = open_part(output, path, there ? st.st_mode & 0777 : mode_of_new_files());
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (result != 0) {
        output_fail_with(output, result);
        output_abandon(output);
    }
    return -result;
}

static int open_growing(struct output *output, const char *path, enum output_policy policy)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    int result = there ? refuse_existing(output, path, &st, policy) : 0;

    return result
               ? result
               : open_as_it_is(output, open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
}

static int open_any(struct output *output, const char *path, enum output_policy policy,
                    int (*open_one)(struct output *, const char *, enum output_policy))
{
    int fd = output_descriptor(path);

    *output = (struct output){.path = path, .fd = -1, .folder = -1};
    if (fd >= 0) {
        return open_as_it_is(output, fcntl(fd, F_DUPFD_CLOEXEC, 0));
    }
    char *target = output_follow_links(path);
    int result = target ? open_one(output, target, policy) : output_fail_with(output, errno);

    free(target);
    return result;
}

int output_open(struct output *output, const char *path, enum output_policy policy)
{
    return open_any(output, path, policy, output_open_direct);
}

int output_open_in_place(struct output *output, const char *path, enum output_policy policy)
{
    return open_any(output, path, policy, open_growing);
}

int output_check(const char *path, enum output_policy policy)
{
    struct output output = {.path = path, .fd = -1, .folder = -1};
    int fd = output_descriptor(path);
    struct stat st;

    if (fd >= 0) {
        return fstat(fd, &st) == 0 && output_stat_is_read(&st) ? refuse_input(&output) : 0;
    }
    return stat(path, &st) == 0 ? refuse_existing(&output, path, &st, policy) : 0;
}

/* ---- writing ----------------------------------------------------------------------- */

int output_write(struct output *output, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes > 0 && output->error == 0) {
        ssize_t n = write(output->fd, at, bytes);

        if (n > 0) {
            at += n;
            bytes -= (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            output->error = n == 0 ? ENOSPC : errno;
        }
    }
    return -output->error;
}

FILE *output_stream(struct output *output)
{
    if (!output->stream) {
        output->stream = fdopen(output->fd, "wb");
    }
    if (!output->stream) {
        output_fail_with(output, errno);
    }
    return output->stream;
}

/* ---- the end ----------------------------------------------------------------------- */

/* Files without a medium need no flush. */
static int flush_to_medium(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
}

static int output_flush_buffer(struct output *output)
{
    if (output->stream && output->error == 0) {
        errno = 0;
        if (fflush(output->stream) != 0 || ferror(output->stream)) {
            output->error = errno ? errno : EIO;
        }
    }
    if (output->error == 0) {
        output->error = flush_to_medium(output->fd);
    }
    return output->error;
}

/* Gives the part its name if no file has it. Not every file system can do it in one step. */
static int rename_to_new(const struct output *output)
{
    int at = output->folder;
    struct stat st;

    if (renameat2(at, output->part, at, output->name, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return errno;
    }
    if (linkat(at, output->part, at, output->name, 0) == 0) {
        return unlinkat(at, output->part, 0) == 0 ? 0 : errno;
    }
    if (errno != EPERM && errno != ENOTSUP) {
        return errno;
    }
    if (fstatat(at, output->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        return EEXIST;
    }
    return renameat(at, output->part, at, output->name) == 0 ? 0 : errno;
}

static int output_place_part(const struct output *output)
{
    int error =
        output->replaces
            ? renameat(output->folder, output->part, output->folder, output->name) == 0 ? 0 : errno
            : rename_to_new(output);

    return error ? error : flush_to_medium(output->folder);
}

int output_try_commit(struct output *output)
{
    int error = output_flush_buffer(output);

    if (error == 0 && output->part) {
        error = output_place_part(output);
        if (error == EEXIST) {
            return -EEXIST;
        }
    }
    if (error == 0) {
        free(output->part);
        output->part = NULL;
        output_release_part(output);
        return 0;
    }
    output_fail_with(output, error);
    output_abandon(output);
    return -error;
}

int output_commit(struct output *output)
{
    int result = output_try_commit(output);

    if (result == -EEXIST) {
        kymo_error("%s: a file of that name was created meanwhile", output->path);
        output_abandon(output);
    }
    return result;
}

int output_rename(struct output *output, const char *name)
{
    char *copy = strdup(name);

    if (copy) {
        free(output->name);
        output->name = copy;
        output->replaces = false;
    }
    return copy ? 0 : -ENOMEM;
}

static bool same_bytes(int a, int b)
{
    static char one[65536], other[sizeof(one)];
    off_t at = 0;
    ssize_t n;

    while ((n = pread(a, one, sizeof(one), at)) > 0) {
        if (pread(b, other, (size_t)n, at) != n || memcmp(one, other, (size_t)n) != 0) {
            return false;
        }
        at += n;
    }
    return n == 0 && pread(b, other, 1, at) == 0;
}

bool output_is_same(struct output *output)
{
    int there = output->part && output_flush_buffer(output) == 0
                    ? openat(output->folder, output->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                    : -1;
    int mine = there < 0 ? -1 : openat(output->folder, output->part, O_RDONLY | O_CLOEXEC);
    bool same = mine >= 0 && same_bytes(mine, there);

    if (there >= 0) {
        close(there);
    }
    if (mine >= 0) {
        close(mine);
    }
    return same;
}

void output_leave_part(struct output *output)
{
    free(output->part);
    output->part = NULL;
    output_release_part(output);
}

void output_abandon(struct output *output)
{
    if (output->part) {
        unlinkat(output->folder, output->part, 0);
    }
    output_release_part(output);
}

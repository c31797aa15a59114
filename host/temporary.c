/* SPDX-License-Identifier: BSD-2-Clause */
/* See temporary.h. tmpfile() isn't used anywhere: it knows nothing of $TMPDIR. */
#define _GNU_SOURCE 1 /* memfd_create() */
#include "host/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOLD_TRIES = 100 };

const char *temporary_place(void)
{
    const char *place = getenv("TMPDIR");

    return place && *place ? place : "/tmp";
}

/* Absolute, because what is started works in other directories. */
static int temporary_make_name(const char *what, char *path, size_t room)
{
    char place[PATH_MAX];

    if (!realpath(temporary_place(), place)) {
        return -1;
    }
    int length = snprintf(path, room, "%s/kymo-%s-XXXXXX", place, what);
    if (length < 0 || (size_t)length >= room) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}

int temporary_directory(const char *what, char *path, size_t room)
{
    return temporary_make_name(what, path, room) == 0 && mkdtemp(path) ? 0 : -1;
}

/* ---- directories that a killed process has left ------------------------------------ */

/* Files that a pattern of `files` names may hold data; a plain name's is a link, a socket or an
 * empty file. */
static bool temporary_is_named(const char *const *files, const char *name, const struct stat *st)
{
    for (; *files; files++) {
        if (**files == '>'
                ? fnmatch(*files + 1, name, 0) == 0
                : strcmp(*files, name) == 0 && (!S_ISREG(st->st_mode) || st->st_size == 0)) {
            return true;
        }
    }
    return false;
}

static void remove_files(int folder, const char *const *files)
{
    int again = dup(folder);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    struct dirent *entry;
    struct stat st;

    while (entries && (entry = readdir(entries)) != NULL) {
        if (fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode) &&
            temporary_is_named(files, entry->d_name, &st)) {
            unlinkat(folder, entry->d_name, 0);
        }
    }
    if (entries) {
        closedir(entries);
    } else if (again >= 0) {
        close(again);
    }
}

/* A process that lives holds the lock of its directory. */
int temporary_lock_dead(int place, const char *name)
{
    int folder = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (folder >= 0 && (fstat(folder, &st) != 0 || st.st_uid != geteuid() ||
                        flock(folder, LOCK_EX | LOCK_NB) != 0)) {
        close(folder);
        folder = -1;
    }
    return folder;
}

static void temporary_remove_if_dead(int place, const char *name, const char *const *files)
{
    int folder = temporary_lock_dead(place, name);

    if (folder >= 0) {
        remove_files(folder, files);
        unlinkat(place, name, AT_REMOVEDIR);
        close(folder);
    }
}

static void temporary_remove_dead(const char *what, const char *const *files)
{
    DIR *place = opendir(temporary_place());
    char prefix[NAME_MAX];
    struct dirent *entry;
    int length = snprintf(prefix, sizeof(prefix), "kymo-%s-", what);

    while (place && (entry = readdir(place)) != NULL) {
        if (strncmp(entry->d_name, prefix, (size_t)length) == 0 &&
            strlen(entry->d_name) == (size_t)length + strlen("XXXXXX")) {
            temporary_remove_if_dead(dirfd(place), entry->d_name, files);
        }
    }
    if (place) {
        closedir(place);
    }
}

int temporary_lock(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat held, there;

    if (folder < 0) {
        errno = errno == ENOENT ? EBUSY : errno;
        return -1;
    }
    if ((flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
        fstat(folder, &held) == 0 && stat(path, &there) == 0 && held.st_ino == there.st_ino &&
        held.st_dev == there.st_dev) {
        return folder;
    }
    close(folder);
    errno = EBUSY;
    return -1;
}

int temporary_directory_hold(const char *what, const char *const *files, char *path, size_t room)
{
    temporary_remove_dead(what, files);
    for (int i = 0; i < HOLD_TRIES; i++) {
        if (temporary_directory(what, path, room) != 0) {
            return -1;
        }
        int folder = temporary_lock(path);
        int error = errno;
        if (folder >= 0) {
            return folder;
        }
        rmdir(path);
        errno = error;
        if (error != EBUSY) {
            return -1;
        }
    }
    return -1;
}

/* ---- files ------------------------------------------------------------------------- */

int temporary_file(const char *what, char *path, size_t room)
{
    int fd = temporary_make_name(what, path, room) == 0 ? mkstemp(path) : -1;

    if (fd >= 0) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return fd;
}

int temporary_open(void)
{
    char path[PATH_MAX];
    int fd = temporary_file("file", path, sizeof(path));

    if (fd >= 0) {
        unlink(path);
    }
    return fd;
}

/* In memory: what goes there is small, and no place has to be found for it. */
FILE *temporary_stream(void)
{
    int fd = memfd_create("kymo", MFD_CLOEXEC);
    FILE *stream = fd >= 0 ? fdopen(fd, "w+") : NULL;

    if (fd >= 0 && !stream) {
        close(fd);
    }
    return stream;
}

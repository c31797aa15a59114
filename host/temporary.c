/* SPDX-License-Identifier: BSD-2-Clause */
/* See temporary.h. tmpfile() isn't used anywhere: it knows nothing of $TMPDIR. */
#define _GNU_SOURCE 1 /* memfd_create() */
#include "host/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *temporary_place(void)
{
    const char *place = getenv("TMPDIR");

    return place && *place ? place : "/tmp";
}

/* Absolute, because what is started works in other directories. */
static int name(const char *what, char *path, size_t room)
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
    return name(what, path, room) == 0 && mkdtemp(path) ? 0 : -1;
}

int temporary_file(const char *what, char *path, size_t room)
{
    int fd = name(what, path, room) == 0 ? mkstemp(path) : -1;

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

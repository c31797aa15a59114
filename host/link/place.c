/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See place.h. The directory is $XDG_RUNTIME_DIR/kymo, or kymo-UID in the temporary directory, mode
 * 0700. Two that come at once start one broker: a lock is held while the socket is looked for and
 * made. The broker has a process of its own, without our terminal and without our files, and
 * removes both when it ends.
 */
#include "host/link/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/link/broker.h"
#include "host/link/local.h"
#include "host/temporary.h"

static char link_place_error_text[400];

static int link_place_fail_with(const char *what, const char **why)
{
    snprintf(link_place_error_text, sizeof(link_place_error_text), "%.300s: %s", what,
             strerror(errno));
    *why = link_place_error_text;
    return -1;
}

static int directory_make(const char *path, const char **why)
{
    struct stat st;

    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        return link_place_fail_with(path, why);
    }
    if (lstat(path, &st) != 0) {
        return link_place_fail_with(path, why);
    }
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
        snprintf(link_place_error_text, sizeof(link_place_error_text),
                 "%.300s: is not a directory of yours alone", path);
        *why = link_place_error_text;
        return -1;
    }
    return 0;
}

/* FNV-1a, 64 bits: a name of bounded length for any target. */
static uint64_t link_place_hash_name(const char *text)
{
    uint64_t n = 0xcbf29ce484222325u;

    for (; *text; text++) {
        n = (n ^ (uint8_t)*text) * 0x100000001b3u;
    }
    return n;
}

/* Absolute, because the broker works in another directory. */
static int directory_find(char *directory, size_t room, const char **why)
{
    const char *run = getenv("XDG_RUNTIME_DIR");
    char place[PATH_MAX];
    int length;

    if (run && run[0] == '/') {
        length = snprintf(directory, room, "%s/kymo", run);
    } else if (realpath(temporary_place(), place)) {
        length = snprintf(directory, room, "%s/kymo-%u", place, (unsigned)geteuid());
    } else {
        return link_place_fail_with(temporary_place(), why);
    }
    if (length < 0 || (size_t)length >= room) {
        errno = ENAMETOOLONG;
        return link_place_fail_with(
            "the path in XDG_RUNTIME_DIR or TMPDIR is too long for a socket", why);
    }
    return directory_make(directory, why);
}

int place_find(struct place *place, const char *spec, const char **why)
{
    char name[40], directory[sizeof(place->address.sun_path)];
    int length = snprintf(name, sizeof(name), "/link%d-%016llx", LOCAL_VERSION,
                          (unsigned long long)link_place_hash_name(spec));

    memset(place, 0, sizeof(*place));
    place->address.sun_family = AF_UNIX;
    if (directory_find(directory, sizeof(directory) - (size_t)length, why) != 0) {
        return -1;
    }
    strcpy(stpcpy(place->address.sun_path, directory), name);
    snprintf(place->lock, sizeof(place->lock), "%s.lock", place->address.sun_path);
    return 0;
}

static int try_connect(const struct place *place)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 &&
        connect(fd, (const struct sockaddr *)&place->address, sizeof(place->address)) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void forget_files(int keep)
{
    int null = open("/dev/null", O_RDWR);
    long most = sysconf(_SC_OPEN_MAX);

    for (int fd = 0; fd < 3; fd++) {
        dup2(null, fd);
    }
    most = most < 0 || most > 4096 ? 4096 : most;
    for (int fd = 3; fd < most; fd++) {
        if (fd != keep) {
            close(fd);
        }
    }
}

/* The child of a child, so that no process has to wait for it. */
static void broker_fork(const struct place *place, const char *spec, int listener)
{
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        if (fork() == 0) {
            setsid();
            forget_files(listener);
            if (chdir("/") != 0) {
                _exit(1);
            }
            broker_run(place, spec, listener);
        }
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}

static int broker_start(const struct place *place, const char *spec)
{
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = -1;

    unlink(place->address.sun_path); /* of a broker that was killed */
    if (listener >= 0 &&
        bind(listener, (const struct sockaddr *)&place->address, sizeof(place->address)) == 0 &&
        listen(listener, 64) == 0) {
        broker_fork(place, spec, listener);
        fd = try_connect(place);
    }
    if (listener >= 0) {
        int error = errno;

        close(listener);
        errno = error;
    }
    return fd;
}

/* A broker that ends removes the lock that it holds: a process that gets the lock then has a file
 * that no other finds. */
static int place_lock_take(const char *path)
{
    struct stat st;

    for (;;) {
        int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (lock < 0) {
            return -1;
        }
        int got = flock(lock, LOCK_EX);
        if (got == 0 && fstat(lock, &st) == 0 && st.st_nlink > 0) {
            return lock;
        }
        int error = errno;
        close(lock);
        errno = error;
        if (got != 0 && error != EINTR) {
            return -1;
        }
    }
}

int place_connect(const struct place *place, const char *spec, const char **why)
{
    int fd = try_connect(place);
    int lock;

    if (fd >= 0) {
        return fd;
    }
    lock = place_lock_take(place->lock);
    if (lock < 0) {
        return link_place_fail_with(place->lock, why);
    }
    fd = try_connect(place);
    if (fd < 0) {
        fd = broker_start(place, spec);
    }
    if (fd < 0) {
        link_place_fail_with(place->address.sun_path, why);
    }
    flock(lock, LOCK_UN); /* the broker may have it too */
    close(lock);
    return fd;
}

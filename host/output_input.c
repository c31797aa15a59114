/* SPDX-License-Identifier: BSD-2-Clause */
/* See output.h: which files the command reads. */
#define _GNU_SOURCE 1 /* O_PATH */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/output.h"

/* Open as long as the process, so that no other file gets the number of one that is removed. */
static int *output_input_fds;
static size_t output_ninput_fds;

void output_reads(const char *path)
{
    int *more = realloc(output_input_fds, (output_ninput_fds + 1) * sizeof(*more));
    int fd = -1;

    if (more) {
        output_input_fds = more;
        fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                    : open(path, O_PATH | O_CLOEXEC);
    }
    if (fd >= 0) {
        output_input_fds[output_ninput_fds++] = fd;
    }
}

/* Device nodes of one device are one file, wherever they are. Terminals and the devices of memory
 * (/dev/null, /dev/full) hold nothing that could be destroyed. */
bool output_stat_is_read(const struct stat *st)
{
    bool device = S_ISBLK(st->st_mode) || (S_ISCHR(st->st_mode) && major(st->st_rdev) != 1 &&
                                           major(st->st_rdev) != 5 && major(st->st_rdev) != 136);

    for (size_t i = 0; i < output_ninput_fds; i++) {
        struct stat in;

        if (fstat(output_input_fds[i], &in) != 0 ||
            (in.st_mode & S_IFMT) != (st->st_mode & S_IFMT)) {
            continue;
        }
        if (S_ISREG(st->st_mode) && in.st_dev == st->st_dev && in.st_ino == st->st_ino) {
            return true;
        }
        if (device && in.st_rdev == st->st_rdev) {
            return true;
        }
    }
    return false;
}

bool output_is_read(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && output_stat_is_read(&st);
}

FILE *output_append(const char *path)
{
    if (output_is_read(path)) {
        kymo_error("%s: would be written to while it is read: give another file", path);
        errno = EBUSY;
        return NULL;
    }
    return fopen(path, "ae");
}

bool output_stdout_is_read(void)
{
    struct stat st;

    return fstat(STDOUT_FILENO, &st) == 0 && output_stat_is_read(&st);
}

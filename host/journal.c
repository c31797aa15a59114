/* SPDX-License-Identifier: BSD-2-Clause */
/* See journal.h. */
#include "host/journal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns 0 or an errno, of the call that failed. */
static int journal_write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t n = write(fd, bytes, count);

        if (n < 0 && errno != EINTR) {
            return errno;
        }
        if (n == 0) {
            return ENOSPC;
        }
        bytes += n > 0 ? n : 0;
        count -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Returns 0 or an errno. */
static int journal_cut(const struct journal *journal)
{
    return ftruncate(journal->fd, journal->bytes) != 0 || fdatasync(journal->fd) != 0 ? errno : 0;
}

int journal_open(struct journal *journal, int fd, char *torn, size_t room, size_t *cut)
{
    char tail[JOURNAL_LINE];
    struct stat st;

    *cut = 0;
    if (fstat(fd, &st) != 0) {
        return -errno;
    }
    size_t have = st.st_size < (off_t)sizeof(tail) ? (size_t)st.st_size : sizeof(tail);
    ssize_t n = pread(fd, tail, have, st.st_size - (off_t)have);

    if (n != (ssize_t)have) {
        return n < 0 ? -errno : -EIO;
    }
    const char *newline = memrchr(tail, '\n', have);
    size_t rest = newline == NULL ? have : have - (size_t)(newline + 1 - tail);

    if (newline == NULL && st.st_size >= (off_t)sizeof(tail)) {
        return -EINVAL;
    }
    *journal = (struct journal){.fd = fd, .bytes = st.st_size - (off_t)rest};
    if (rest > 0) {
        size_t shown = rest < room - 1 ? rest : room - 1;

        memcpy(torn, tail + have - rest, shown);
        torn[shown] = '\0';
        *cut = rest;
        return -journal_cut(journal);
    }
    return 0;
}

int journal_append(struct journal *journal, const char *line, size_t length)
{
    struct stat st;
    int error = fstat(journal->fd, &st) != 0 ? errno : 0;

    /* What an earlier failure has left may be there still. */
    if (error == 0 && st.st_size != journal->bytes) {
        error = journal_cut(journal);
    }
    if (error != 0) {
        return -error;
    }
    error = journal_write_all(journal->fd, line, length);
    if (error == 0 && fdatasync(journal->fd) != 0) {
        error = errno;
    }
    if (error != 0) {
        journal_cut(journal); /* the next line tries again if this fails */
        return -error;
    }
    journal->bytes += (off_t)length;
    return 0;
}

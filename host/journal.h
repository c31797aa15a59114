/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file to which lines are appended, each whole or not at all: after a write that fails or falls
 * short the file is as long as before, and the end of a line that a crash or a power cut has torn
 * is cut off when the file is opened, so that the next line does not run into it. One process
 * writes; it has locked the file before. Proved by test/host/journal_test.c.
 */
#ifndef HOST_JOURNAL_H
#define HOST_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define JOURNAL_LINE 4096 /* bytes of a line, with its newline, at most */

struct journal {
    int fd;      /* opened to read and to append; the caller's */
    off_t bytes; /* of whole lines; the file has more only if they could not be cut off */
};

/* Cuts off a line that is not complete, and copies the first bytes of it to `torn`; *cut is how
 * many bytes were cut off. Returns 0 or a negative errno; -EINVAL, with the file as it was, if the
 * file ends in no newline and in more than a line: nothing here has written that. */
int journal_open(struct journal *journal, int fd, char *torn, size_t room, size_t *cut);
/* Appends a line, which ends in a newline, and flushes it to the medium. Returns 0 or the negative
 * errno of the call that failed; then the line is not in the file. */
int journal_append(struct journal *journal, const char *line, size_t length);

#endif

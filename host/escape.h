/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text for a terminal: control characters are replaced by their octal escapes, so that a name from
 * a capture, a target or a file can't move the cursor, change the title or make the terminal type.
 */
#ifndef HOST_ESCAPE_H
#define HOST_ESCAPE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Between two calls of escape_text(): the UTF-8 character that is not complete yet. Begins as 0. */
struct escape {
    uint8_t held[4];
    unsigned nheld, wanted;
};

/* Bytes that escape_text() can make of n. */
#define ESCAPE_MOST(n) (4 * ((n) + 4))

/* Copies text to `to`, which has room for ESCAPE_MOST(n), and returns the bytes written. Printable
 * ASCII, newline, tab and well-formed UTF-8 stay; C0 and C1 controls, DEL, controls of the writing
 * direction, U+FFFE and U+FFFF, and bytes that are no UTF-8 become \ooo. */
size_t escape_text(struct escape *, const char *text, size_t n, char *to);

struct escape_stream {
    struct escape escape;
    int fd;
};

/* A stream whose text goes to file descriptor `fd` escaped; NULL: no memory. The struct must
 * outlive the stream, whose closing leaves fd open. */
FILE *escape_stream_open(struct escape_stream *, int fd);

#endif

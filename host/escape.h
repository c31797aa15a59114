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

/* Likewise of a text that ends there: a character of UTF-8 that it cuts off is escaped. */
size_t escape_whole(const char *text, size_t n, char *to);
/* Likewise of a text within a line: a newline and a tab are escaped, too. */
size_t escape_line(const char *text, size_t n, char *to);

/* Returns how many bytes the character has that begins at text, of which n > 0 bytes are there, if
 * escape_text() leaves it as it is; 0: its first byte is escaped. */
unsigned escape_plain_slow(const char *text, size_t n);
static inline unsigned escape_plain(const char *text, size_t n)
{
    return *text >= ' ' && *text < 0x7f ? 1 : escape_plain_slow(text, n);
}
/* Writes the character that begins at `at`, where `left` bytes are, or its first byte escaped; a
 * newline and a tab are escaped, too. Returns how many bytes it wrote; *taken: how many it read. */
unsigned escape_line_char(char to[4], const char *at, size_t left, unsigned *taken);
/* Writes one byte as escape_text() does, \ooo. Returns 4. */
unsigned escape_octal(char to[4], uint8_t byte);

struct escape_stream {
    struct escape escape;
    int fd;
};

/* A stream whose text goes to file descriptor `fd` escaped; NULL: no memory. The struct must
 * outlive the stream, whose closing leaves fd open. */
FILE *escape_stream_open(struct escape_stream *, int fd);

#endif

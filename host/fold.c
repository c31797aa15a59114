/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of kymo why for a terminal: what is longer than the terminal is wide goes on in the next
 * line, below the words, which follow the columns of time and length. Proof: test/host/why/check.
 */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "host/why/why.h"

#define WORDS_AT 27 /* after time and length */
#define INDENT 9    /* of other lines' continuations: below the word after "Begun:" */
#define NARROW 40   /* a narrower terminal gets lines as they are */

unsigned why_columns(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= NARROW ? size.ws_col : 0;
}

/* Bytes of the text that fill so many columns: a character of UTF-8 is taken for one. */
static size_t fold_bytes(const char *text, size_t n, unsigned columns)
{
    size_t i = 0;

    for (; i < n; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80 && columns-- == 0) {
            break;
        }
    }
    return i;
}

/* Where the words of a line begin. */
static unsigned fold_indent(const char *line, size_t n, unsigned columns)
{
    size_t at = WORDS_AT;

    if (n <= WORDS_AT || memcmp(line, "  ", 2) != 0 || memcmp(line + WORDS_AT - 2, "  ", 2) != 0) {
        return INDENT;
    }
    while (at < n && line[at] == ' ') {
        at++;
    }
    return at + 2 < columns / 2 ? (unsigned)at + 2 : columns / 2;
}

/* Breaks at blanks; a word that is longer than a line stays whole. */
static void fold_line(const char *line, size_t n, unsigned columns)
{
    unsigned indent = fold_indent(line, n, columns), used = 0;

    for (size_t end = fold_bytes(line, n, columns); end < n;
         end = fold_bytes(line, n, columns - used)) {
        size_t blank = end, next, first = 0;

        while (first < n && line[first] == ' ') {
            first++;
        }
        while (blank > first && line[blank] != ' ') {
            blank--;
        }
        if (blank <= first) {
            const char *after = memchr(line + end, ' ', n - end);

            if (after == NULL) {
                break;
            }
            blank = (size_t)(after - line);
        }
        for (next = blank; next < n && line[next] == ' '; next++) {
        }
        while (blank > 0 && line[blank - 1] == ' ') {
            blank--;
        }
        printf("%.*s\n%*s", (int)blank, line, (int)indent, "");
        line += next;
        n -= next;
        used = indent;
    }
    printf("%.*s\n", (int)n, line);
}

void why_fold(const char *text, unsigned columns)
{
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        fold_line(text, (size_t)(end - text), columns);
    }
}

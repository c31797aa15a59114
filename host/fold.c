/* SPDX-License-Identifier: BSD-2-Clause */
/* See fold.h. */
#include "host/fold.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NARROWEST 40 /* a narrower terminal gets lines for so many columns */

unsigned fold_columns(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return 0;
    }
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
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

/* Breaks at blanks; a word that is longer than a line stays whole. */
static void fold_line(FILE *to, const char *line, size_t n, unsigned columns, unsigned indent)
{
    unsigned used = 0;

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
        fprintf(to, "%.*s\n%*s", (int)blank, line, (int)indent, "");
        line += next;
        n -= next;
        used = indent;
    }
    fprintf(to, "%.*s\n", (int)n, line);
}

void fold_text(FILE *to, const char *text, unsigned columns, fold_indent_fn *indent)
{
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        size_t n = (size_t)(end - text);

        fold_line(to, text, n, columns, indent(text, n, columns));
    }
}

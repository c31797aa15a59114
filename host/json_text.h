/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text as a JSON string: as host/escape.h has it, so that a name is the same text here as on a
 * terminal, and the line is valid JSON in UTF-8 whatever a capture, a target or a file holds. One
 * thread. Proved by test/host/export/names.py.
 */
#ifndef HOST_JSON_TEXT_H
#define HOST_JSON_TEXT_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "host/escape.h"

#define JSON_CHAR_MOST 6

/* Writes one byte so that a reader gets the character of its number: for bytes that are no text. */
static inline unsigned json_byte(char to[JSON_CHAR_MOST], unsigned char c)
{
    if (c >= ' ' && c < 0x7f && c != '"' && c != '\\') {
        to[0] = (char)c;
        return 1;
    }
    to[0] = '\\';
    if (c == '"' || c == '\\') {
        to[1] = (char)c;
        return 2;
    }
    to[1] = 'u';
    to[2] = to[3] = '0';
    to[4] = "0123456789abcdef"[c >> 4];
    to[5] = "0123456789abcdef"[c & 15];
    return JSON_CHAR_MOST;
}

/* Writes the character of a text that begins at `at`, where `left` bytes are, or its first byte
 * escaped, as it stands inside of a string. Returns how many bytes it wrote; *taken: how many it
 * read. */
static inline unsigned json_char(char to[JSON_CHAR_MOST], const char *at, size_t left,
                                 unsigned *taken)
{
    unsigned n = escape_plain(at, left);

    *taken = n == 0 ? 1 : n;
    if (n == 0) {
        to[0] = '\\'; /* the escape's backslash, quoted */
        return 1 + escape_octal(to + 1, (uint8_t)*at);
    }
    if (n == 1) {
        return json_byte(to, (unsigned char)*at);
    }
    memcpy(to, at, n);
    return n;
}

/* Writes a string with its quotes. */
void json_put_bytes(FILE *to, const char *text, size_t length);
/* Likewise; NULL is null. */
void json_put(FILE *to, const char *text);

#endif

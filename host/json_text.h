/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text as a JSON string. A byte that is not printable ASCII is \u00XX, so that a line is ASCII and
 * valid JSON whatever a capture, a target or a file holds, and no byte is lost. One thread.
 */
#ifndef HOST_JSON_TEXT_H
#define HOST_JSON_TEXT_H

#include <stddef.h>
#include <stdio.h>

#define JSON_CHAR_MOST 6

/* Writes one byte as it stands inside of a string; returns how many bytes that are. */
static inline unsigned json_char(char to[JSON_CHAR_MOST], unsigned char c)
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

/* Writes a string with its quotes. */
void json_put_bytes(FILE *to, const char *text, size_t length);
/* Likewise; NULL is null. */
void json_put(FILE *to, const char *text);

#endif

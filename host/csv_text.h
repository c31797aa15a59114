/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text as it stands in plain text and in a quoted cell of CSV (RFC 4180): as host/escape.h has it,
 * and in one line: a newline and a tab are \ooo, too, and a backslash is \\, so that no byte is
 * lost. One thread. Proved by test/host/print/cells.py and test/host/export/names.py.
 */
#ifndef HOST_CSV_TEXT_H
#define HOST_CSV_TEXT_H

#include "host/escape.h"

#define TEXT_CHAR_MOST 4

/* Writes the character of a text that begins at `at`, where `left` bytes are, or its first byte
 * escaped. Returns how many bytes it wrote; *taken: how many it read. */
static inline unsigned text_char(char to[TEXT_CHAR_MOST], const char *at, size_t left,
                                 unsigned *taken)
{
    if (*at == '\\') {
        to[0] = to[1] = '\\';
        *taken = 1;
        return 2;
    }
    return escape_line_char(to, at, left, taken);
}

/* Likewise amid a cell, where a quote is doubled. */
static inline unsigned csv_char(char to[TEXT_CHAR_MOST], const char *at, size_t left,
                                unsigned *taken)
{
    if (*at != '"') {
        return text_char(to, at, left, taken);
    }
    to[0] = to[1] = '"';
    *taken = 1;
    return 2;
}

/* Likewise where a cell begins: a character with which a spreadsheet would begin a formula is \ooo,
 * too. */
static inline unsigned csv_first_char(char to[TEXT_CHAR_MOST], const char *at, size_t left,
                                      unsigned *taken)
{
    if (*at == '=' || *at == '+' || *at == '-' || *at == '@') {
        *taken = 1;
        return escape_octal(to, (uint8_t)*at);
    }
    return csv_char(to, at, left, taken);
}

#endif

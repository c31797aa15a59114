/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text as it stands in plain text and in a quoted cell of CSV (RFC 4180): a byte that is not
 * printable ASCII is \xNN and a backslash is \\, so that a line is ASCII whatever a capture, a
 * target or a file holds, and no byte is lost. One thread. Proved by test/host/print/cells.py.
 */
#ifndef HOST_CSV_TEXT_H
#define HOST_CSV_TEXT_H

#define TEXT_CHAR_MOST 4

static inline unsigned text_hex(char to[TEXT_CHAR_MOST], unsigned char c)
{
    to[0] = '\\';
    to[1] = 'x';
    to[2] = "0123456789abcdef"[c >> 4];
    to[3] = "0123456789abcdef"[c & 15];
    return TEXT_CHAR_MOST;
}

/* Writes one byte of a text; returns how many bytes that are. */
static inline unsigned text_char(char to[TEXT_CHAR_MOST], unsigned char c)
{
    if (c < ' ' || c >= 0x7f) {
        return text_hex(to, c);
    }
    to[0] = (char)c;
    to[1] = '\\';
    return c == '\\' ? 2 : 1;
}

/* Writes one byte amid a cell: like text_char(), and a quote is doubled. */
static inline unsigned csv_char(char to[TEXT_CHAR_MOST], unsigned char c)
{
    if (c != '"') {
        return text_char(to, c);
    }
    to[0] = to[1] = '"';
    return 2;
}

/* Writes the first byte of a cell: like csv_char(), and a character with which a spreadsheet would
 * begin a formula is \xNN, too. */
static inline unsigned csv_first_char(char to[TEXT_CHAR_MOST], unsigned char c)
{
    return c == '=' || c == '+' || c == '-' || c == '@' ? text_hex(to, c) : csv_char(to, c);
}

#endif

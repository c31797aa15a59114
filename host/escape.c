/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Escaping text for a terminal: see escape.h. One thread. Tested by test/host/escape_test.c.
 */
#include "host/escape.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

unsigned escape_octal(char to[4], uint8_t byte)
{
    to[0] = '\\';
    to[1] = (char)('0' + (byte >> 6));
    to[2] = (char)('0' + (byte >> 3 & 7));
    to[3] = (char)('0' + (byte & 7));
    return 4;
}

/* Bytes of the UTF-8 character that begins with this one; 0: none begins so. */
static unsigned utf8_length(uint8_t first)
{
    if (first < 0xc2 || first > 0xf4) {
        return 0;
    }
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* A whole character of `length` bytes, whose first and following bytes have the right form. */
static bool is_harmless(const uint8_t *c, unsigned length)
{
    uint32_t code = c[0] & (0xffu >> (length + 1));

    for (unsigned i = 1; i < length; i++) {
        code = code << 6 | (c[i] & 0x3f);
    }
    bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    bool no_character = (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff || code == 0xfffe ||
                        code == 0xffff; /* an XML parser refuses these two */
    bool c1 = code >= 0x80 && code <= 0x9f;
    bool direction = code == 0x61c || code == 0x200e || code == 0x200f ||
                     (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);

    return !overlong && !no_character && !c1 && !direction;
}

static size_t put_held(struct escape *e, char *to, bool as_it_is)
{
    size_t n = 0;

    for (unsigned i = 0; i < e->nheld; i++) {
        if (as_it_is) {
            to[n++] = (char)e->held[i];
        } else {
            n += escape_octal(to + n, e->held[i]);
        }
    }
    e->nheld = e->wanted = 0;
    return n;
}

static size_t escape_put_byte(struct escape *e, uint8_t byte, char *to)
{
    size_t n = 0;

    if (e->nheld && (byte & 0xc0) == 0x80) {
        e->held[e->nheld++] = byte;
        return e->nheld == e->wanted ? put_held(e, to, is_harmless(e->held, e->wanted)) : 0;
    }
    n += put_held(e, to, false); /* cut off by this byte */
    e->wanted = utf8_length(byte);
    if (e->wanted) {
        e->held[e->nheld++] = byte;
    } else if ((byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\t') {
        to[n++] = (char)byte;
    } else {
        n += escape_octal(to + n, byte);
    }
    return n;
}

size_t escape_text(struct escape *e, const char *text, size_t n, char *to)
{
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        used += escape_put_byte(e, (uint8_t)text[i], to + used);
    }
    return used;
}

size_t escape_whole(const char *text, size_t n, char *to)
{
    struct escape e = {.nheld = 0};
    size_t used = escape_text(&e, text, n, to);

    return used + put_held(&e, to + used, false);
}

unsigned escape_plain_slow(const char *text, size_t n)
{
    const uint8_t *c = (const uint8_t *)text;
    unsigned length = utf8_length(*c);

    if (length == 0) {
        return (*c >= 0x20 && *c < 0x7f) || *c == '\n' || *c == '\t';
    }
    for (unsigned i = 1; i < length; i++) {
        if (i >= n || (c[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return is_harmless(c, length) ? length : 0;
}

unsigned escape_line_char(char to[4], const char *at, size_t left, unsigned *taken)
{
    unsigned n = *at == '\n' || *at == '\t' ? 0 : escape_plain(at, left);

    *taken = n == 0 ? 1 : n;
    if (n == 0) {
        return escape_octal(to, (uint8_t)*at);
    }
    memcpy(to, at, n);
    return n;
}

size_t escape_line(const char *text, size_t n, char *to)
{
    size_t used = 0;

    for (unsigned taken; n > 0; text += taken, n -= taken) {
        used += escape_line_char(to + used, text, n, &taken);
    }
    return used;
}

/* ---- a stream ---------------------------------------------------------------------- */

static bool escape_write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno != EINTR) {
            return false;
        }
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

static ssize_t escaping_write(void *cookie, const char *text, size_t n)
{
    enum { PART = 1024 };
    struct escape_stream *s = cookie;
    char part[ESCAPE_MOST(PART)];

    for (size_t at = 0; at < n; at += PART) {
        size_t bytes = n - at < PART ? n - at : PART;
        if (!escape_write_all(s->fd, part, escape_text(&s->escape, text + at, bytes, part))) {
            return at ? (ssize_t)at : 0;
        }
    }
    return (ssize_t)n;
}

FILE *escape_stream_open(struct escape_stream *s, int fd)
{
    *s = (struct escape_stream){.fd = fd};
    return fopencookie(s, "w", (cookie_io_functions_t){.write = escaping_write});
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fast text output. A failed write is remembered and ends all output: the caller asks out->error.
 */
#include <errno.h>
#include <unistd.h>

#include "host/json_text.h"
#include "host/print/out.h"

static void write_all(struct out *out, const char *bytes, size_t len)
{
    while (len > 0 && out->error == 0) {
        ssize_t n = write(out->fd, bytes, len);

        if (n < 0 && errno != EINTR) {
            out->error = errno;
        }
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        }
    }
}

void out_flush(struct out *out)
{
    write_all(out, out->bytes, out->used);
    out->used = 0;
}

void out_bytes_slow(struct out *out, const char *text, size_t len)
{
    out_flush(out);
    if (len > OUT_BYTES) {
        write_all(out, text, len);
        return;
    }
    memcpy(out->bytes, text, len);
    out->used = len;
}

void out_u64(struct out *out, uint64_t value)
{
    char digits[20];
    unsigned n = sizeof(digits);

    if (value < 10) { /* most are */
        out_char(out, (char)('0' + value));
        return;
    }
    do {
        digits[--n] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    out_bytes(out, digits + n, sizeof(digits) - n);
}

void out_i64(struct out *out, int64_t value)
{
    if (value < 0) {
        out_char(out, '-');
        out_u64(out, 0 - (uint64_t)value);
    } else {
        out_u64(out, (uint64_t)value);
    }
}

void out_text(struct out *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c >= ' ' && c < 0x7f && c != '\\') {
            out_char(out, (char)c);
        } else if (c == '\\') {
            out_str(out, "\\\\");
        } else {
            out_str(out, "\\x");
            out_char(out, "0123456789abcdef"[c >> 4]);
            out_char(out, "0123456789abcdef"[c & 15]);
        }
    }
}

void out_pad(struct out *out, size_t n)
{
    static const char blanks[] = "                                ";

    for (; n > sizeof(blanks) - 1; n -= sizeof(blanks) - 1) {
        out_bytes(out, blanks, sizeof(blanks) - 1);
    }
    out_bytes(out, blanks, n);
}

void out_seconds(struct out *out, int64_t ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    char fraction[10];

    if (ns < 0) {
        out_char(out, '-');
    }
    out_u64(out, size / 1000000000u);
    size = size % 1000000000u + 1000000000u; /* nine digits behind a one */
    for (unsigned i = 10; i > 0; i--, size /= 10) {
        fraction[i - 1] = (char)('0' + size % 10);
    }
    fraction[0] = '.';
    out_bytes(out, fraction, sizeof(fraction));
}

void out_json(struct out *out, const char *text, size_t len)
{
    out_char(out, '"');
    for (size_t i = 0; i < len; i++) {
        out_room(out);
        out->used += json_char(out->bytes + out->used, (unsigned char)text[i]);
    }
    out_char(out, '"');
}

void out_json_text(struct out *out, const char *text)
{
    if (text == NULL) {
        out_str(out, "null");
    } else {
        out_json(out, text, strlen(text));
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fast text output. A failed write is remembered and ends all output: the caller asks out->error.
 */
#include <errno.h>
#include <unistd.h>

#include "host/csv_text.h"
#include "host/json_text.h"
#include "host/print/out.h"

static void print_out_write_all(struct out *out, const char *bytes, size_t len)
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
    print_out_write_all(out, out->bytes, out->used);
    out->used = 0;
}

void out_bytes_slow(struct out *out, const char *text, size_t len)
{
    out_flush(out);
    if (len > OUT_BYTES) {
        print_out_write_all(out, text, len);
        return;
    }
    memcpy(out->bytes, text, len);
    out->used = len;
}

/* The digits of 0 to 99. */
static const char print_out_digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233"
    "34353637383940414243444546474849505152535455565758596061626364656667"
    "6869707172737475767778798081828384858687888990919293949596979899";

static unsigned digits_count(uint64_t value)
{
    unsigned n = 1;

    while (value >= 10000) {
        value /= 10000;
        n += 4;
    }
    return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

void out_u64(struct out *out, uint64_t value)
{
    char *to;

    out_room(out);
    to = out->bytes + out->used;
    if (value < 10) { /* most are */
        *to = (char)('0' + value);
        out->used++;
        return;
    }
    unsigned n = digits_count(value);
    out->used += n;
    for (; value >= 100; value /= 100) {
        n -= 2;
        memcpy(to + n, print_out_digit_pairs + value % 100 * 2, 2);
    }
    if (n == 2) {
        memcpy(to, print_out_digit_pairs + value * 2, 2);
    } else {
        *to = (char)('0' + value);
    }
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
    for (unsigned taken; len > 0; text += taken, len -= taken) {
        out_room(out);
        out->used += text_char(out->bytes + out->used, text, len, &taken);
    }
}

void out_csv_bytes(struct out *out, const char *text, size_t len)
{
    for (unsigned taken; len > 0; text += taken, len -= taken) {
        out_room(out);
        out->used += csv_char(out->bytes + out->used, text, len, &taken);
    }
}

void out_csv_begin(struct out *out, const char *text, size_t len)
{
    unsigned taken;

    if (len > 0) {
        out_room(out);
        out->used += csv_first_char(out->bytes + out->used, text, len, &taken);
        out_csv_bytes(out, text + taken, len - taken);
    }
}

void out_csv_text(struct out *out, const char *text)
{
    out_char(out, ',');
    if (text != NULL) {
        out_char(out, '"');
        out_csv_begin(out, text, strlen(text));
        out_char(out, '"');
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
    size = size % 1000000000u + 1000000000u; /* nine digits after a one */
    for (unsigned i = 10; i > 0; i--, size /= 10) {
        fraction[i - 1] = (char)('0' + size % 10);
    }
    fraction[0] = '.';
    out_bytes(out, fraction, sizeof(fraction));
}

void out_json(struct out *out, const char *text, size_t len)
{
    out_char(out, '"');
    for (unsigned taken; len > 0; text += taken, len -= taken) {
        out_room(out);
        out->used += json_char(out->bytes + out->used, text, len, &taken);
    }
    out_char(out, '"');
}

void out_json_bytes(struct out *out, const char *bytes, size_t len)
{
    out_char(out, '"');
    for (size_t i = 0; i < len; i++) {
        out_room(out);
        out->used += json_byte(out->bytes + out->used, (unsigned char)bytes[i]);
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

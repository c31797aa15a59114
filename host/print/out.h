/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fast text output: into a buffer that is written when it is full. For one thread.
 */
#ifndef HOST_PRINT_OUT_H
#define HOST_PRINT_OUT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OUT_BYTES 65536
#define OUT_PIECE 64 /* most that one out_*() of a number adds */

struct out {
    int fd;
    int error; /* errno of the first failed write, 0 */
    size_t used;
    char bytes[OUT_BYTES];
};

void out_flush(struct out *out);
void out_bytes_slow(struct out *out, const char *text, size_t len);
void out_u64(struct out *out, uint64_t value);
void out_i64(struct out *out, int64_t value);
/* Prints nanoseconds as seconds, with nine decimals. */
void out_seconds(struct out *out, int64_t ns);
/* Prints a string of the capture, escaped, in one line (host/csv_text.h). */
void out_text(struct out *out, const char *text, size_t len);
/* Prints a string of the capture amid a cell of CSV, whose quotes the caller prints. */
void out_csv_bytes(struct out *out, const char *text, size_t len);
/* Likewise, where a cell begins: no spreadsheet takes it for a formula (host/csv_text.h). */
void out_csv_begin(struct out *out, const char *text, size_t len);
/* Prints a cell of CSV with the comma before it; NULL is an empty one. */
void out_csv_text(struct out *out, const char *text);
/* Prints a string of the capture in JSON, with its quotes (host/json_text.h); NULL is null. */
void out_json(struct out *out, const char *text, size_t len);
void out_json_text(struct out *out, const char *text);
/* Prints bytes that are no text in JSON: each as the character of its number. */
void out_json_bytes(struct out *out, const char *bytes, size_t len);
void out_pad(struct out *out, size_t n);

static inline void out_room(struct out *out)
{
    if (out->used > OUT_BYTES - OUT_PIECE) {
        out_flush(out);
    }
}

/* Inline, so that a constant text is a few stores. */
static inline __attribute__((always_inline)) void out_bytes(struct out *out, const char *text,
                                                            size_t len)
{
    if (len > OUT_BYTES - out->used) {
        out_bytes_slow(out, text, len);
        return;
    }
    memcpy(out->bytes + out->used, text, len);
    out->used += len;
}

static inline __attribute__((always_inline)) void out_str(struct out *out, const char *text)
{
    out_bytes(out, text, strlen(text));
}

/* Prints the first len bytes of an array of `room` bytes, a constant below OUT_PIECE: copies the
 * whole array, without a call. */
static inline __attribute__((always_inline)) void out_short(struct out *out, const char *text,
                                                            size_t room, size_t len)
{
    out_room(out);
    memcpy(out->bytes + out->used, text, room);
    out->used += len;
}

static inline void out_char(struct out *out, char c)
{
    out_room(out);
    out->bytes[out->used++] = c;
}

/* Eight digits at once: each nibble in a byte of its own, the first digit in the highest. */
static inline void out_hex_digits(char *to, uint32_t value)
{
    uint64_t x = value;

    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    x += UINT64_C(0x3030303030303030) + letters * ('a' - '9' - 1);
    x = htobe64(x);
    memcpy(to, &x, sizeof(x));
}

/* 0x and 8 or 16 hexadecimal digits. */
static inline void out_hex(struct out *out, uint64_t value, unsigned digits)
{
    char *to;

    out_room(out);
    to = out->bytes + out->used;
    memcpy(to, "0x", 2);
    if (digits > 8) {
        out_hex_digits(to + 2, (uint32_t)(value >> 32));
    }
    out_hex_digits(to + digits - 6, (uint32_t)value);
    out->used += digits + 2;
}

static inline void out_hex32(struct out *out, uint32_t value)
{
    out_hex(out, value, 8);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fast text output: formatted into a buffer, written when full. One thread.
 */
#ifndef HOST_PRINT_OUT_H
#define HOST_PRINT_OUT_H

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
/* A string of the capture: what is not printable ASCII becomes \xNN. */
void out_text(struct out *out, const char *text, size_t len);
void out_pad(struct out *out, size_t n);

static inline void out_room(struct out *out)
{
    if (out->used > OUT_BYTES - OUT_PIECE) {
        out_flush(out);
    }
}

static inline void out_bytes(struct out *out, const char *text, size_t len)
{
    if (len > OUT_BYTES - out->used) {
        out_bytes_slow(out, text, len);
        return;
    }
    memcpy(out->bytes + out->used, text, len);
    out->used += len;
}

static inline void out_str(struct out *out, const char *text)
{
    out_bytes(out, text, strlen(text));
}

static inline void out_char(struct out *out, char c)
{
    out_room(out);
    out->bytes[out->used++] = c;
}

/* 0x and `digits` hexadecimal digits. */
static inline void out_hex(struct out *out, uint64_t value, unsigned digits)
{
    char *to;

    out_room(out);
    to = out->bytes + out->used;
    to[0] = '0';
    to[1] = 'x';
    for (unsigned i = digits; i > 0; i--) {
        to[1 + i] = "0123456789abcdef"[value & 15];
        value >>= 4;
    }
    out->used += digits + 2;
}

static inline void out_hex32(struct out *out, uint32_t value)
{
    out_hex(out, value, 8);
}

#endif

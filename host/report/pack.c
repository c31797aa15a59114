/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of columns: deflate, base64, and the small encodings inside of blocks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "host/escape.h"
#include "host/output.h"
#include "host/report/pack.h"

#define LEVEL 6      /* of deflate: 9 takes three times as long for 1 % less */
#define LEVEL_FAST 1 /* of blocks that stay on this machine */

/* ---- bytes ------------------------------------------------------------------------- */

void bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

uint8_t *bytes_more(struct bytes *bytes, size_t count)
{
    if (bytes->room - bytes->used < count) {
        size_t room = 2 * bytes->room + count + 4096;
        uint8_t *data = bytes->failed ? NULL : realloc(bytes->data, room);

        if (data == NULL) {
            bytes->failed = true;
            return NULL;
        }
        bytes->data = data;
        bytes->room = room;
    }
    bytes->used += count;
    return bytes->data + bytes->used - count;
}

void bytes_put(struct bytes *bytes, const void *data, size_t count)
{
    uint8_t *to = bytes_more(bytes, count);

    if (to != NULL && count > 0) {
        memcpy(to, data, count);
    }
}

void bytes_text(struct bytes *bytes, const char *text)
{
    bytes_put(bytes, text, strlen(text));
}

void bytes_number(struct bytes *bytes, int64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, number);
    bytes_text(bytes, text);
}

void bytes_varint(struct bytes *bytes, uint64_t value)
{
    uint8_t encoded[10];
    unsigned n = 0;

    for (; value >= 0x80; value >>= 7) {
        encoded[n++] = (uint8_t)(value | 0x80);
    }
    encoded[n++] = (uint8_t)value;
    bytes_put(bytes, encoded, n);
}

void bytes_signed(struct bytes *bytes, int64_t value)
{
    bytes_varint(bytes, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void bytes_planes(struct bytes *bytes, const uint32_t *values, size_t count, unsigned planes)
{
    uint8_t *to = bytes_more(bytes, count * planes);

    for (unsigned plane = 0; to != NULL && plane < planes; plane++) {
        for (size_t i = 0; i < count; i++) {
            *to++ = (uint8_t)(values[i] >> 8 * plane);
        }
    }
}

void bytes_json(struct bytes *bytes, const char *text, size_t length)
{
    char *safe = text == NULL ? NULL : malloc(ESCAPE_MOST(length));
    size_t n;

    if (text == NULL) {
        bytes_text(bytes, "null");
        return;
    }
    if (safe == NULL) {
        bytes->failed = true;
        return;
    }
    n = escape_text(&(struct escape){0}, text, length, safe);
    bytes_text(bytes, "\"");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)safe[i];

        if (c < ' ' || c == '"' || c == '\\' || c == '<') {
            char code[8];

            snprintf(code, sizeof(code), "\\u%04x", c);
            bytes_text(bytes, code);
        } else {
            bytes_put(bytes, &c, 1);
        }
    }
    bytes_text(bytes, "\"");
    free(safe);
}

/* ---- blocks ------------------------------------------------------------------------ */

void pack_free(struct pack *pack)
{
    bytes_free(&pack->deflated);
    bytes_free(&pack->encoded);
}

void pack_raw(struct pack *pack, const void *data, size_t count)
{
    if (!pack->failed && output_write(pack->output, data, count) != 0) {
        pack->failed = true;
    }
    pack->bytes += count;
}

static void base64(struct bytes *to, const uint8_t *data, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *at = bytes_more(to, (count + 2) / 3 * 4);

    for (size_t i = 0; at != NULL && i < count; i += 3) {
        size_t left = count - i;
        uint32_t three = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                         (left > 2 ? data[i + 2] : 0);

        *at++ = (uint8_t)digits[three >> 18];
        *at++ = (uint8_t)digits[three >> 12 & 63];
        *at++ = left > 1 ? (uint8_t)digits[three >> 6 & 63] : '=';
        *at++ = left > 2 ? (uint8_t)digits[three & 63] : '=';
    }
}

void pack_block(struct pack *pack, const char *name, uint64_t rows, struct bytes *payload)
{
    uLongf length = compressBound(payload->used);
    char head[160];
    uint8_t *to;

    pack->deflated.used = pack->encoded.used = 0;
    to = bytes_more(&pack->deflated, length);
    if (to == NULL || payload->failed ||
        compress2(to, &length, payload->used > 0 ? payload->data : to, payload->used,
                  pack->sink == NULL ? LEVEL : LEVEL_FAST) != Z_OK) {
        pack->failed = true;
        return;
    }
    pack->blocks++;
    if (pack->sink != NULL) {
        const struct pack_block block = {name,   rows,       payload->used, to,
                                         length, pack->from, pack->to};

        pack->failed |= !pack->sink(pack->sink_arg, &block);
        payload->used = 0;
        return;
    }
    base64(&pack->encoded, to, length);
    snprintf(head, sizeof(head),
             "<script type=\"text/plain\" data-stream=\"%s\" data-rows=\"%" PRIu64
             "\" data-bytes=\"%zu\">",
             name, rows, payload->used);
    pack_raw(pack, head, strlen(head));
    pack_raw(pack, pack->encoded.data, pack->encoded.used);
    pack_raw(pack, "</script>\n", 10);
    pack->failed |= pack->encoded.failed;
    payload->used = 0;
}

/* ---- streams ----------------------------------------------------------------------- */

bool stream_new(struct stream *stream, const char *name, bool lasts, const unsigned planes[4])
{
    stream->name = name;
    stream->lasts = lasts;
    memcpy(stream->planes, planes, sizeof(stream->planes));
    for (unsigned i = 0; i < 4; i++) {
        stream->column[i] = calloc(REPORT_ROWS, sizeof(uint32_t));
        if (stream->column[i] == NULL) {
            return false;
        }
    }
    return true;
}

void stream_free(struct stream *stream)
{
    bytes_free(&stream->times);
    bytes_free(&stream->payload);
    for (unsigned i = 0; i < 4; i++) {
        free(stream->column[i]);
    }
}

void stream_write(struct pack *pack, struct stream *stream)
{
    if (stream->rows == 0) {
        return;
    }
    bytes_put(&stream->payload, stream->times.data, stream->times.used);
    for (unsigned i = 0; i < 4; i++) {
        bytes_planes(&stream->payload, stream->column[i], stream->rows, stream->planes[i]);
    }
    pack->failed |= stream->times.failed;
    pack->from = stream->from;
    pack->to = stream->to;
    pack_block(pack, stream->name, stream->rows, &stream->payload);
    stream->times.used = 0;
    stream->rows = 0;
    stream->last = 0;
    pack->from = pack->to = 0;
}

void stream_row(struct pack *pack, struct stream *stream, int64_t ns, int64_t from,
                const uint32_t values[4])
{
    bytes_signed(&stream->times, ns - stream->last);
    if (stream->lasts) {
        bytes_varint(&stream->times, (uint64_t)(ns - from));
    }
    stream->last = ns;
    stream->from = stream->rows == 0 || from < stream->from ? from : stream->from;
    stream->to = stream->rows == 0 || ns > stream->to ? ns : stream->to;
    for (unsigned i = 0; i < 4; i++) {
        stream->column[i][stream->rows] = values[i];
    }
    if (++stream->rows == REPORT_ROWS) {
        stream_write(pack, stream);
    }
}

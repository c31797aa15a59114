/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of columns: deflate, text, and the small encodings inside of blocks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "host/escape.h"
#include "host/output.h"
#include "host/report/marks.h"
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

void bytes_distances(struct bytes *bytes, const int64_t *distances, size_t count)
{
    uint64_t unit = 0;

    for (size_t i = 1; i < count && unit != 1; i++) {
        uint64_t a = (uint64_t)(distances[i] < 0 ? -distances[i] : distances[i]);

        while (a != 0) {
            uint64_t rest = unit % a;

            unit = a;
            a = rest;
        }
    }
    unit = unit == 0 ? 1 : unit;
    bytes_varint(bytes, unit);
    for (size_t i = 0; i < count; i++) {
        bytes_signed(bytes, i == 0 ? distances[0] : distances[i] / (int64_t)unit);
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
    n = escape_whole(text, length, safe);
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

/* 13 bits are two characters, all of them printable and none of them '<' or '&', so that no byte of
 * a capture ends an element. Takes 16/13 of the bytes; base64 takes 4/3. */
static void report_pack_text_put(struct bytes *to, const uint8_t *data, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                 "!#$%()*+,-./:;=>?@[]^_`{|}~\"'";
    _Static_assert(sizeof(digits) - 1 == 91, "91 * 91 >= 1 << 13");
    uint8_t *at = bytes_more(to, (count * 8 + 12) / 13 * 2);
    uint32_t bits = 0, n = 0;

    for (size_t i = 0; at != NULL && i < count; i++) {
        bits |= (uint32_t)data[i] << n;
        n += 8;
        if (n >= 13) {
            *at++ = (uint8_t)digits[(bits & 0x1fff) % 91];
            *at++ = (uint8_t)digits[(bits & 0x1fff) / 91];
            bits >>= 13;
            n -= 13;
        }
    }
    if (at != NULL && n > 0) {
        *at++ = (uint8_t)digits[bits % 91];
        *at++ = (uint8_t)digits[bits / 91];
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
    report_pack_text_put(&pack->encoded, to, length);
    snprintf(head, sizeof(head),
             "<script type=\"text/plain\" data-stream=\"%s\" data-rows=\"%" PRIu64
             "\" data-bytes=\"%zu\" data-deflated=\"%lu\">",
             name, rows, payload->used, (unsigned long)length);
    pack_raw(pack, head, strlen(head));
    pack_raw(pack, pack->encoded.data, pack->encoded.used);
    pack_raw(pack, "</script>\n", 10);
    pack->failed |= pack->encoded.failed;
    payload->used = 0;
}

/* ---- streams ----------------------------------------------------------------------- */

bool stream_new(struct stream *stream, const char *name, const char *guess, bool lasts,
                const unsigned planes[4])
{
    stream->name = name;
    stream->guess = guess;
    stream->lasts = lasts;
    memcpy(stream->planes, planes, sizeof(stream->planes));
    for (unsigned i = 0; i < 4; i++) {
        stream->column[i] = calloc(REPORT_ROWS, sizeof(uint32_t));
        stream->seen[i] = calloc(STREAM_KINDS, sizeof(uint32_t));
        if (stream->column[i] == NULL || stream->seen[i] == NULL) {
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
        free(stream->seen[i]);
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
        memset(stream->seen[i], 0, STREAM_KINDS * sizeof(uint32_t));
    }
    pack->failed |= stream->times.failed;
    pack->from = stream->from;
    pack->to = stream->to;
    pack_block(pack, stream->name, stream->rows, &stream->payload);
    if (pack->marks != NULL) {
        timeline_rest(&pack->marks->store);
    }
    stream->times.used = 0;
    stream->rows = stream->mark = 0;
    stream->last = 0;
    pack->from = pack->to = 0;
}

/* ---- rows that refer to events ----------------------------------------------------- */

/* An event's distance from the stream's previous one, and 1; or 0, and the time as without
 * marks. */
static void mark_put(struct stream *stream, uint32_t mark, int64_t ns)
{
    int64_t away = (int64_t)mark - stream->mark;

    if (mark == MARKS_NONE) {
        bytes_varint(&stream->times, 0);
        bytes_signed(&stream->times, ns - stream->last);
        return;
    }
    bytes_varint(&stream->times, ((uint64_t)away << 1 ^ (uint64_t)(away >> 63)) + 1);
    stream->mark = mark;
}

/* Writes the times of a row; returns the event at which it begins, else the one at which it ends,
 * in *end the latter. */
static uint32_t marks_put(const struct pack *pack, struct stream *stream, int64_t ns, int64_t from,
                          const uint32_t values[4], uint32_t *end)
{
    uint32_t begin = *end =
        marks_find(pack->marks, stream->mark, ns, values[stream->guess[1] == 'e' ? 1 : 0]);

    mark_put(stream, *end, ns);
    if (stream->lasts) {
        begin = from <= ns ? marks_find(pack->marks, stream->mark, from, values[0]) : MARKS_NONE;
        if (begin == MARKS_NONE || begin > stream->mark) {
            bytes_varint(&stream->times, 0);
            bytes_varint(&stream->times, (uint64_t)(ns - from));
            begin = *end;
        } else {
            bytes_varint(&stream->times, (uint64_t)(stream->mark - begin) + 1);
        }
    }
    return begin;
}

static uint32_t value_guess(const struct pack *pack, struct stream *stream, unsigned column,
                            uint32_t begin, uint32_t end, uint32_t value)
{
    uint32_t kind = begin == MARKS_NONE ? 0 : pack->marks->at[begin].kind % STREAM_KINDS, guess;

    switch (stream->guess[column]) {
    case 'b':
        return begin == MARKS_NONE ? 0 : pack->marks->at[begin].thread;
    case 'e':
        return end == MARKS_NONE ? 0 : pack->marks->at[end].thread;
    default:
        guess = stream->seen[column][kind];
        stream->seen[column][kind] = value;
        return guess;
    }
}

void stream_row(struct pack *pack, struct stream *stream, int64_t ns, int64_t from,
                const uint32_t values[4])
{
    bool guesses = pack->marks != NULL && stream->guess != NULL;
    uint32_t end = MARKS_NONE, begin = end;

    if (guesses) {
        begin = marks_put(pack, stream, ns, from, values, &end);
    } else {
        bytes_signed(&stream->times, ns - stream->last);
        if (stream->lasts) {
            bytes_varint(&stream->times, (uint64_t)(ns - from));
        }
    }
    stream->last = ns;
    stream->from = stream->rows == 0 || from < stream->from ? from : stream->from;
    stream->to = stream->rows == 0 || ns > stream->to ? ns : stream->to;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t guess = guesses && stream->planes[i] > 0
                             ? value_guess(pack, stream, i, begin, end, values[i])
                             : 0;

        stream->column[i][stream->rows] = values[i] ^ guess;
    }
    if (++stream->rows == REPORT_ROWS) {
        stream_write(pack, stream);
    }
}

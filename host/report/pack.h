/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of columns in a page (docs/reference/report-data.md): bytes are collected, deflated (zlib)
 * and written as base64 between tags, so that no byte of a capture can end an element. One thread.
 * Proof: test/host/report/check.py, which reads the blocks with a second reader.
 */
#ifndef HOST_REPORT_PACK_H
#define HOST_REPORT_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output;

/* Bytes that grow. After a failure of memory `failed` is set and further bytes are dropped. */
struct bytes {
    uint8_t *data;
    size_t used, room;
    bool failed;
};

void bytes_free(struct bytes *bytes);
/* Returns room for `count` more bytes, which are then counted as used; NULL: no memory. */
uint8_t *bytes_more(struct bytes *bytes, size_t count);
void bytes_put(struct bytes *bytes, const void *data, size_t count);
void bytes_text(struct bytes *bytes, const char *text);
void bytes_number(struct bytes *bytes, int64_t number);
/* LEB128; a signed number goes zigzag. */
void bytes_varint(struct bytes *bytes, uint64_t value);
void bytes_signed(struct bytes *bytes, int64_t value);
/* The low `planes` bytes of each value: first all lowest ones, then all next ones ... */
void bytes_planes(struct bytes *bytes, const uint32_t *values, size_t count, unsigned planes);
/* Distances from row to row, the first from 0: the greatest divisor of the others, the first, the
 * others by the divisor. Times are multiples of a clock's cycle, most often. */
void bytes_distances(struct bytes *bytes, const int64_t *distances, size_t count);
/* A JSON string, quotes included: of the capture's bytes what is no printable text in UTF-8
 * becomes \ooo (host/escape.h). Has no '<'. NULL gives null. */
void bytes_json(struct bytes *bytes, const char *text, size_t length);

/* A block as one who serves it gets it: deflated, and not written as text. */
struct pack_block {
    const char *name;
    uint64_t rows, bytes; /* bytes: before it was deflated */
    const uint8_t *deflated;
    size_t length;
    int64_t from, to; /* of its rows with times; of others 0 */
};

struct marks;

struct pack {
    const struct marks *marks; /* NULL: rows have times of their own */
    struct output *output;     /* NULL: `sink` takes the blocks */
    bool (*sink)(void *arg, const struct pack_block *block); /* false: it can't */
    void *sink_arg;
    int64_t from, to; /* of the block that is being written */
    uint64_t bytes;   /* of the page so far */
    uint64_t blocks;  /* that it has */
    bool failed;      /* no memory, or a write has failed */
    struct bytes deflated, encoded;
};

void pack_free(struct pack *pack);
/* Bytes of the page as they are. */
void pack_raw(struct pack *pack, const void *data, size_t count);
/* A block of the stream `name` with so many rows; the payload is emptied. */
void pack_block(struct pack *pack, const char *name, uint64_t rows, struct bytes *payload);

/* ---- rows with a time and columns -------------------------------------------------- */

#define REPORT_ROWS 65536 /* of a block */
#define STREAM_KINDS 1024 /* of events, that are distinguished where values are guessed */

struct stream {
    const char *name;
    /* For a page with marks: how the value of each column is guessed, of which a row has only
     * what is different (docs/reference/report-data.md): b, e: the thread of the event at which
     * the row begins or ends; k: the last value of a row that began at an event of the same
     * kind. NULL: it isn't. */
    const char *guess;
    bool lasts; /* a row has a length, too */
    struct bytes times, payload;
    uint32_t *column[4];
    uint32_t *seen[4]; /* [kind] by k */
    unsigned planes[4];
    uint32_t rows; /* of the open block */
    uint32_t mark; /* that of the last row with one */
    int64_t last;
    int64_t from, to; /* the earliest and the latest time of its rows */
};

/* False: no memory. */
bool stream_new(struct stream *stream, const char *name, const char *guess, bool lasts,
                const unsigned planes[4]);
void stream_free(struct stream *stream);
/* A row at `ns`, which lasts since `from`. */
void stream_row(struct pack *pack, struct stream *stream, int64_t ns, int64_t from,
                const uint32_t values[4]);
/* Writes the open block. */
void stream_write(struct pack *pack, struct stream *stream);

#endif

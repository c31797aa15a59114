/* SPDX-License-Identifier: BSD-2-Clause */
/* See captures.h. */
#include "host/extract/captures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct extract_capture *capture_new(struct extract_list *list, uint64_t begin)
{
    struct extract_capture *more =
        realloc(list->capture, (list->count + 1) * sizeof(*list->capture));

    if (!more) {
        return NULL;
    }
    list->capture = more;
    struct extract_capture *capture = &more[list->count++];
    *capture = (struct extract_capture){.begin = begin};
    return capture;
}

/* The one that a record belongs to; if that had no beginning left, one without a name. */
static struct extract_capture *capture_of(struct extract_list *list,
                                          const struct blocklog_header *header)
{
    struct extract_capture *last = list->count > 0 ? &list->capture[list->count - 1] : NULL;

    if (!last || last->begin != header->begin) {
        last = capture_new(list, header->begin);
        if (last) {
            last->first = header->sequence;
        }
    }
    return last;
}

/* A record that was written twice, because its first frame's acknowledgement failed, counts once.
 */
static bool is_new(const struct extract_capture *capture, const struct blocklog_header *header)
{
    return header->kind == BLOCKLOG_DATA && header->bytes > 0 && header->offset >= capture->size;
}

static int add(struct extract_list *list, const struct blocklog_header *header)
{
    if (header->kind == BLOCKLOG_RECLAIM) {
        return 0;
    }
    struct extract_capture *capture = capture_of(list, header);
    if (!capture) {
        return -ENOMEM;
    }
    capture->after = header->sequence + 1;
    capture->lost = header->lost;
    if (header->kind == BLOCKLOG_BEGIN) {
        capture->time = header->time;
        memcpy(capture->name, header->name, sizeof(capture->name));
    } else if (header->kind == BLOCKLOG_END) {
        capture->whole = true;
        capture->size = header->offset > capture->size ? header->offset : capture->size;
    } else if (is_new(capture, header)) {
        capture->bytes += header->bytes;
        capture->slots += header->slots;
        capture->size = header->offset + header->bytes;
    }
    return 0;
}

int extract_list(struct blocklog *log, struct extract_list *list)
{
    struct blocklog_header header;
    int result = 0;

    *list = (struct extract_list){0};
    for (uint64_t at = log->oldest; at < log->next && result == 0; at++) {
        result = blocklog_header(log, at, &header);
        if (result == 0) {
            result = add(list, &header);
        } else if (result == -ENOENT) {
            list->absent++;
            result = 0;
        } else if (result == -EIO) {
            list->unreadable++;
            result = 0;
        }
    }
    return result;
}

void extract_list_free(struct extract_list *list)
{
    free(list->capture);
    list->capture = NULL;
    list->count = 0;
}

/* Of the record in hand: a damaged one may be there once more. */
struct reading {
    uint64_t offset;     /* where the next one begins, or later */
    uint64_t bad_offset; /* of a damaged one, */
    uint32_t bad_bytes;  /* 0: none */
};

static void give_up_damaged(struct reading *reading, struct extract_capture *capture)
{
    capture->damaged += reading->bad_bytes;
    reading->bad_bytes = 0;
}

/* Its data into `data`: 0; 1: damaged; or the disk's error. */
static int read_record(struct blocklog *log, const struct blocklog_header *header,
                       struct reading *reading, void *data)
{
    int result = blocklog_data(log, header, data);

    reading->offset = header->offset + (result == 0 ? header->bytes : 0);
    reading->bad_bytes = 0;
    if (result == -EBADMSG || result == -EIO) {
        reading->bad_offset = header->offset;
        reading->bad_bytes = header->bytes;
        return 1;
    }
    return result;
}

int extract_read(struct blocklog *log, struct extract_capture *capture,
                 int (*take)(void *context, const void *data, size_t bytes), void *context)
{
    static uint8_t data[BLOCKLOG_DATA_BYTES];
    struct blocklog_header header;
    struct reading reading = {0};

    capture->damaged = 0;
    for (uint64_t at = capture->first; at < capture->after; at++) {
        if (blocklog_header(log, at, &header) != 0 || header.begin != capture->begin ||
            header.kind != BLOCKLOG_DATA || header.offset < reading.offset) {
            continue;
        }
        if (header.offset != reading.bad_offset) {
            give_up_damaged(&reading, capture);
        }
        int result = read_record(log, &header, &reading, data);
        if (result < 0) {
            return result;
        }
        if (result == 0 && take(context, data, header.bytes) != 0) {
            return -1;
        }
    }
    give_up_damaged(&reading, capture);
    return 0;
}

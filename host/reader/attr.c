/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text attributes at the head of a capture: `TRACE_` key `::` value, back to back, no newline
 * between them (docs/reference/format.md). A value ends where the next `TRACE_KEY::` begins. Values
 * are data of the file's writer: they are never trusted, only bounded.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"

#define HEAD_MAX 65536
#define ATTRS_MAX 256
#define SEARCH_MOST (8u << 20) /* for buffers in a file that may be no capture */
#define SAMPLES 64             /* after that, spread over the file, the last one at its end */
#define SAMPLE_BYTES (2u * TRACE_BUFFER_SLOTS_MOST * TRACE_SLOT_BYTES)
#define PREFIX "TRACE_"
#define END "HEADER_END"

char *kev_copy(const char *text, size_t len)
{
    char *copy = malloc(len + 1);

    if (copy != NULL) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

bool kev_may_begin(const void *bytes, size_t length)
{
    return memcmp(bytes, KEV_BEGIN, length < strlen(KEV_BEGIN) ? length : strlen(KEV_BEGIN)) == 0;
}

const char *kev_attr(const struct kev *kev, const char *key)
{
    for (unsigned i = 0; i < kev->nattrs; i++) {
        if (strcmp(kev->attrs[i].key, key) == 0) {
            return kev->attrs[i].value;
        }
    }
    return NULL;
}

/* CUT_DOUBT_1, and of cuts of cuts CUT_BEFORE_DOUBT_1 ... */
const char *kev_cut_doubt(const struct kev *kev)
{
    for (unsigned i = 0; i < kev->nattrs; i++) {
        const char *key = kev->attrs[i].key;

        if (strncmp(key, "CUT_", 4) == 0 && strstr(key, "DOUBT_") != NULL) {
            return kev->attrs[i].value;
        }
    }
    return NULL;
}

/* Length of a `TRACE_KEY::` that starts at text, 0 if there is none. */
static size_t key_length(const char *text, size_t len)
{
    size_t i = strlen(PREFIX);

    if (len < i || memcmp(text, PREFIX, i) != 0) {
        return 0;
    }
    while (i < len && i < 128 && (isalnum((unsigned char)text[i]) || text[i] == '_')) {
        i++;
    }
    if (i == strlen(PREFIX) || i + 2 > len || text[i] != ':' || text[i + 1] != ':') {
        return 0;
    }
    return i + 2;
}

static int attr_add(struct kev *kev, const char *key, size_t key_len, const char *value,
                    size_t value_len)
{
    struct kev_attr *attr = &kev->attrs[kev->nattrs];

    attr->key = kev_copy(key, key_len);
    attr->value = kev_copy(value, value_len);
    kev->nattrs++;
    kev->head_no_memory = attr->key == NULL || attr->value == NULL;
    return kev->head_no_memory ? -1 : 0;
}

/* Parses an attribute at `at`; returns the offset of the next one, 0 at the end of the text, -1. */
static long attr_parse(struct kev *kev, const char *text, size_t len, size_t at)
{
    size_t key = key_length(text + at, len - at);
    size_t value = at + key;
    size_t end = value;
    size_t name = key - strlen(PREFIX) - 2;

    if (name == strlen(END) && memcmp(text + at + strlen(PREFIX), END, name) == 0) {
        kev->slots_offset = value;
        return 0;
    }
    while (end < len && key_length(text + end, len - end) == 0) {
        end++;
    }
    if (end == len || kev->nattrs == ATTRS_MAX) {
        return -1;
    }
    if (attr_add(kev, text + at + strlen(PREFIX), name, text + value, end - value) != 0) {
        return -1;
    }
    return (long)end;
}

static int attrs_check(struct kev *kev, struct kev_error *error)
{
    bool little = kev_attr(kev, "LITTLE_ENDIAN") != NULL;
    bool big = kev_attr(kev, "BIG_ENDIAN") != NULL;
    const char *major = kev_attr(kev, "VER_MAJOR");
    const char *minor = kev_attr(kev, "VER_MINOR");

    if (little == big) {
        return kev_fail(kev, error, 0,
                        "the header must have one of TRACE_LITTLE_ENDIAN, "
                        "TRACE_BIG_ENDIAN");
    }
    if (major != NULL && atoi(major) != 1) {
        return kev_fail(kev, error, 0, "unknown format version %.16s, only 1 is known", major);
    }
    if (minor != NULL && atoi(minor) < 1) {
        return kev_fail(kev, error, 0,
                        "unknown format version 1.%.16s, only 1.01 and later are known", minor);
    }
    kev->info.swapped = little != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    return 0;
}

static int syspage_take(struct kev *kev, struct kev_error *error)
{
    const char *text = kev_attr(kev, "SYSPAGE_LEN");
    char *rest = NULL;
    unsigned long len;

    errno = 0;
    len = text == NULL ? 0 : strtoul(text, &rest, 0);
    if (text != NULL && (errno != 0 || rest == text || len > (16u << 20))) {
        return kev_fail(kev, error, 0, "TRACE_SYSPAGE_LEN:: %.24s is not a possible size", text);
    }
    if (len > kev->file.size - kev->slots_offset) {
        return kev_fail_incomplete(kev, error, kev->file.size,
                                   "the file ends inside the system page of %lu bytes", len);
    }
    kev->syspage = malloc(len + 1);
    if (kev->syspage == NULL) {
        return kev_fail_memory(error, kev->file.path, "out of memory");
    }
    if (kev_file_read(&kev->file, kev->slots_offset, kev->syspage, len, error) < 0) {
        return -1;
    }
    kev->syspage_len = (uint32_t)len;
    kev->slots_offset += len;
    return 0;
}

/* The head is damaged if there are buffers of events after it; else the file is something else. A
 * file that may be anything is not read to its end for that: its first part is, then samples. Each
 * is longer than a buffer, so it has a buffer's head if it is of a capture. */
static int head_missing(struct kev *kev, struct kev_error *error)
{
    static const char why[] = "not a capture: it does not start with " KEV_BEGIN;
    uint64_t size = kev->file.size, step = size > SEARCH_MOST ? (size - SEARCH_MOST) / SAMPLES : 0;
    int64_t first;

    kev->info.ncpu = KEV_CPUS;
    kev->buffer_slots = TRACE_BUFFER_SLOTS_MOST;
    first = kev_resync(kev, 0, size < SEARCH_MOST ? size : SEARCH_MOST, error);
    for (unsigned i = 1; i <= SAMPLES && (uint64_t)first == size && step > 0; i++) {
        uint64_t at = SEARCH_MOST + i * step - SAMPLE_BYTES;

        first = kev_resync(kev, at, at + 1, error);
    }
    kev->info.ncpu = 0;
    kev->buffer_slots = 0;
    if (first < 0) {
        return -1;
    }
    return (uint64_t)first < kev->file.size ? kev_fail(kev, error, 0, "%s", why)
                                            : kev_fail_plain(error, kev->file.path, "%s", why);
}

static int attrs_parse(struct kev *kev, const char *text, size_t len, struct kev_error *error)
{
    long at = 0;

    if (len == 0) {
        kev_fail_plain(error, kev->file.path, "is empty");
        error->incomplete = error->placed = true;
        return -1;
    }
    if (!kev_may_begin(text, len)) {
        return head_missing(kev, error);
    }
    if (len < strlen(KEV_BEGIN)) {
        return kev_fail_incomplete(kev, error, len, "the file ends inside its header");
    }
    do {
        at = attr_parse(kev, text, len, (size_t)at);
    } while (at > 0);
    if (kev->head_no_memory) {
        return kev_fail_memory(error, kev->file.path, "out of memory");
    }
    if (at < 0 && len < HEAD_MAX) {
        return kev_fail_incomplete(kev, error, len, "the file ends inside its header");
    }
    if (at < 0) {
        return kev_fail(kev, error, 0, "no TRACE_HEADER_END:: in the first %d bytes", HEAD_MAX);
    }
    return 0;
}

int kev_read_head(struct kev *kev, struct kev_error *error)
{
    char *text = malloc(HEAD_MAX);
    struct kev_error shorter;
    long len;
    int result = -1;

    kev->attrs = calloc(ATTRS_MAX, sizeof(*kev->attrs));
    if (text == NULL || kev->attrs == NULL) {
        free(text);
        return kev_fail_memory(error, kev->file.path, "out of memory");
    }
    len = kev_file_read(&kev->file, 0, text, HEAD_MAX, error);
    if (len >= 0) {
        result = attrs_parse(kev, text, (size_t)len, error);
    }
    free(text);
    if (result == 0) {
        result = attrs_check(kev, error);
    }
    if (result == 0) {
        result = syspage_take(kev, error);
    }
    if (result != 0 && kev->options.follow && kev_file_refresh(&kev->file, true, &shorter) != 0) {
        error->incomplete = true; /* it is begun anew just now: there will be more */
    }
    return result;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index's look at heads of buffers, and what it does when recovering a damaged Kymo capture: it
 * passes over what is no buffer, and does not believe a count that leads to none. The next buffer
 * is found by a byte-wise search for a BUFFER slot with a TIME slot after it, both of the same CPU
 * and with possible values.
 * Proof: test/host/reader/damage_test.c.
 */
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"

#define PAIR_BYTES (2 * TRACE_SLOT_BYTES)
#define SEARCH_BYTES 65536
#define HEADER_OF(event) TRACE_HEADER(0, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, event)

void kev_slot_swap(const struct kev *kev, struct trace_slot *slot)
{
    if (!kev->info.swapped) {
        return;
    }
    slot->header = __builtin_bswap32(slot->header);
    slot->time = __builtin_bswap32(slot->time);
    if (TRACE_GET_CLASS(slot->header) == TRACE_CLASS_CONTROL) {
        slot->d1 = __builtin_bswap32(slot->d1);
        slot->d2 = __builtin_bswap32(slot->d2);
    }
}

/* Both in the host's byte order. */
bool kev_pair_plausible(const struct kev *kev, const struct trace_slot pair[2])
{
    uint32_t cpu = pair[0].header & TRACE_CPU_MASK;

    return pair[0].header == (HEADER_OF(TRACE_CONTROL_BUFFER) | cpu) &&
           pair[1].header == (HEADER_OF(TRACE_CONTROL_TIME) | cpu) &&
           TRACE_GET_CPU(cpu) < kev->info.ncpu && pair[0].d1 != 0 && pair[0].d2 >= 2 &&
           pair[0].d2 <= kev->buffer_slots;
}

static long pair_find(struct kev *kev, const char *bytes, size_t len)
{
    /* The byte of the header that holds BUFFER's number; the class's is next to it. */
    size_t mark = kev->info.swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? 3 : 0;
    const char *at = bytes + mark;
    const char *end = bytes + len;

    while (at < end && (at = memchr(at, TRACE_CONTROL_BUFFER, (size_t)(end - at))) != NULL) {
        const char *start = at - mark;
        struct trace_slot pair[2];

        if ((size_t)(end - start) < sizeof(pair)) {
            return -1;
        }
        memcpy(pair, start, sizeof(pair));
        kev_slot_swap(kev, &pair[0]);
        kev_slot_swap(kev, &pair[1]);
        if (kev_pair_plausible(kev, pair)) {
            return start - bytes;
        }
        at++;
    }
    return -1;
}

int64_t kev_resync(struct kev *kev, uint64_t offset, uint64_t end, struct kev_error *error)
{
    char *bytes = malloc(SEARCH_BYTES);
    int64_t result = (int64_t)kev->file.size;

    if (bytes == NULL) {
        return kev_fail_memory(error, kev->file.path, "out of memory");
    }
    while (offset < end) {
        long len = kev_file_read(&kev->file, offset, bytes, SEARCH_BYTES, error);
        long found;

        if (len <= 0) {
            result = len < 0 ? -1 : result;
            break;
        }
        found = pair_find(kev, bytes, (size_t)len);
        if (found >= 0) {
            result = (int64_t)(offset + (uint64_t)found);
            break;
        }
        if (len < SEARCH_BYTES) {
            break;
        }
        offset += (uint64_t)len - 2 * TRACE_SLOT_BYTES + 1;
    }
    free(bytes);
    return result;
}

/* Reads the two slots at offset; returns how many are there, -1. */
int kev_pair_read(struct kev *kev, uint64_t offset, struct trace_slot pair[2],
                  struct kev_error *error)
{
    long len;

    memset(pair, 0, 2 * sizeof(*pair));
    len = kev_file_read(&kev->file, offset, pair, 2 * sizeof(*pair), error);
    if (len < 0) {
        return -1;
    }
    kev_slot_swap(kev, &pair[0]);
    kev_slot_swap(kev, &pair[1]);
    return (int)(len / TRACE_SLOT_BYTES);
}

bool kev_slot_is_tail(const struct kev *kev, const struct trace_slot *slot)
{
    return kev_slot_is_dropped(slot) && TRACE_GET_CPU(slot->header) < kev->info.ncpu;
}

/* Recovering: continues at the next plausible buffer, but not with that of another capture. */
int kev_skip_damage(struct kev *kev, struct kev_error *error)
{
    uint64_t at = kev->index.end;
    int64_t next = kev_resync(kev, at + 1, kev->file.size, error);

    int64_t another = next < 0 ? -1 : kev_another_find(kev, at, (uint64_t)next, error);

    if (another < 0) {
        return -1;
    }
    if (another < next) {
        kev_note(kev, at, "no buffer starts here");
        kev->damage.places++;
        kev->damage.bytes += (uint64_t)another - at;
        kev_another_take(kev, (uint64_t)another);
        return 0;
    }
    if (kev->options.follow && (uint64_t)next == kev->file.size) {
        uint64_t keep = kev->file.size < PAIR_BYTES ? 0 : kev->file.size - (PAIR_BYTES - 1);

        next = (int64_t)(keep > at ? keep : at);
    }
    if ((uint64_t)next == at) {
        error->incomplete = true;
        return -1;
    }
    kev_note(kev, at, "no buffer starts here");
    kev->damage.places++;
    kev->damage.bytes += (uint64_t)next - at;
    kev->index.end = (uint64_t)next;
    return 0;
}

/* Recovering: what follows a buffer must be a buffer too, or the count is not to be believed. */
int kev_count_verify(struct kev *kev, uint64_t offset, uint32_t *slots, struct kev_error *error)
{
    uint64_t end = offset + (uint64_t)*slots * TRACE_SLOT_BYTES;
    struct trace_slot pair[2];
    int have = end > kev->file.size ? 0 : kev_pair_read(kev, end, pair, error);
    int64_t next;
    uint64_t fit;

    if (have < 0) {
        return -1;
    }
    if (kev->check_unknown) {
        kev->checked = kev->info.checked = have == 2 && kev_pair_is_trailer(pair);
        kev->check_unknown = false;
    }
    if (kev->checked && have == 2 && kev_pair_is_trailer(pair)) {
        return 0;
    }
    if (kev->checked && have == 2) { /* a damaged trailer, but the next group is after it */
        have = kev_pair_read(kev, end + PAIR_BYTES, pair, error);
        if (have < 0) {
            return -1;
        }
    }
    if (end == kev->file.size || (kev->checked && end + PAIR_BYTES == kev->file.size) ||
        (have == 2 && kev_pair_plausible(kev, pair)) ||
        (have >= 1 && (kev_slot_is_tail(kev, &pair[0]) || kev_slot_is_end(kev, &pair[0])))) {
        return 0;
    }
    next = kev_resync(kev, offset + 2 * TRACE_SLOT_BYTES, kev->file.size, error);
    next = next < 0 ? -1 : kev_another_find(kev, offset, (uint64_t)next, error);
    if (next < 0) {
        return -1;
    }
    fit = ((uint64_t)next - offset) / TRACE_SLOT_BYTES;
    if (kev->checked && fit >= 4) { /* the next buffer begins after this one's trailer */
        have = kev_pair_read(kev, (uint64_t)next - PAIR_BYTES, pair, error);
        fit -= have == 2 && kev_pair_is_trailer(pair) ? 2 : 0;
    }
    if (fit < *slots || fit > kev->buffer_slots) {
        fit = fit < *slots ? fit : *slots;
    }
    if (fit != *slots) {
        kev_note(kev, offset, "the buffer's count does not fit");
        kev->damage.places++;
        *slots = (uint32_t)fit;
    }
    return 0;
}

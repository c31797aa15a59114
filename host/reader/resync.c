/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finding the next buffer in a damaged capture: a byte-wise search for a BUFFER slot with a TIME
 * slot behind it, both of the same CPU and with possible values.
 */
#include <stdlib.h>
#include <string.h>

#include "host/reader/internal.h"

#define CHUNK 65536
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

int64_t kev_resync(struct kev *kev, uint64_t offset, struct kev_error *error)
{
    char *bytes = malloc(CHUNK);
    int64_t result = (int64_t)kev->file.size;

    if (bytes == NULL) {
        return kev_fail_plain(error, kev->file.path, "out of memory");
    }
    while (offset < kev->file.size) {
        long len = kev_file_read(&kev->file, offset, bytes, CHUNK, error);
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
        if (len < CHUNK) {
            break;
        }
        offset += (uint64_t)len - 2 * TRACE_SLOT_BYTES + 1;
    }
    free(bytes);
    return result;
}

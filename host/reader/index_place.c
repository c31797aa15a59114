/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where groups of slots stood when they were written (docs/reference/format.md §4): each one's sum
 * is continued with the offset at which it began and with how many buffers of its CPU there were.
 * So a group that stands elsewhere now says what was taken away before it or added: exactly,
 * whatever was lost before it was written, and without the end mark. A group whose words were
 * changed has no place that can be; it is damage, which is reported when the buffer is loaded.
 * Proof: test/host/reader/place_test.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/reader/reader.h"

#define CHUNK (KEV_LOOK_MOST / TRACE_SLOT_BYTES) /* slots looked at at a time */
#define MOVED_MOST (1 << 30) /* units of 16 bytes: a group that moved further is damaged */
#define TWICE_MOST 1024      /* buffers that are there twice: likewise */

/* Buffers that CPU should have had in the file up to this group, by those that are here. */
static int64_t buffers_here(const struct kev *kev, const struct kev_group *group)
{
    return (int64_t)kev->info.cpu[group->cpu].buffers + kev->index.gaps[group->cpu].all +
           group->buffers;
}

static void bytes_moved(struct kev *kev, uint64_t at, int32_t units)
{
    char text[160];

    kev->index.skew += units;
    if (units > 0) {
        kev->index.gone_at = kev->info.missing_bytes == 0 ? at : kev->index.gone_at;
        kev->info.missing_bytes += (uint64_t)units * TRACE_SLOT_BYTES;
    } else if (units < 0) {
        snprintf(text, sizeof(text),
                 "%" PRId64 " bytes before here do not belong to this capture, or are duplicated",
                 -(int64_t)units * TRACE_SLOT_BYTES);
        kev_late(kev, at, text);
    }
}

struct capture_place kev_place_look(struct kev *kev, const struct kev_group *group, uint32_t *gone)
{
    struct capture_place here = {capture_place_at(group->at) + (uint32_t)kev->index.skew,
                                 (uint32_t)buffers_here(kev, group)};
    struct capture_place found = capture_place_find(group->sum, group->check);
    int32_t units = (int32_t)(found.at - here.at),
            buffers = (int32_t)(found.buffers - here.buffers);

    *gone = 0;
    if (capture_sum_place(group->sum, found) != group->check || units >= MOVED_MOST ||
        units <= -MOVED_MOST || buffers < -TWICE_MOST ||
        (buffers > 0 && (uint32_t)buffers > group->most)) {
        return here;
    }
    bytes_moved(kev, group->at, units);
    if (buffers > 0) {
        *gone = (uint32_t)buffers;
    } else {
        kev->index.gaps[group->cpu].all += buffers;
    }
    return found;
}

/* Notes what the third slot is not: so cover.c needn't read it again. */
static void third_note(const struct kev *kev, struct kev_entry *entry, const uint8_t *slots)
{
    struct trace_slot third;

    memcpy(&third, slots + 2 * TRACE_SLOT_BYTES, sizeof(third));
    kev_slot_swap(kev, &third);
    entry->plain = !kev_slot_is_dropped(&third) && !kev_slot_is_injected(&third);
}

static int buffer_sum(struct kev *kev, struct kev_entry *entry, uint64_t *sum,
                      struct kev_error *error)
{
    *sum = CAPTURE_SUM_FIRST;
    for (uint32_t at = 0, n; at < entry->slots; at += n) {
        n = entry->slots - at < CHUNK ? entry->slots - at : CHUNK;
        const uint8_t *slots;
        long len = kev_file_look(&kev->file, entry->offset + (uint64_t)at * TRACE_SLOT_BYTES,
                                 (size_t)n * TRACE_SLOT_BYTES, &slots, error);

        if (len != (long)n * TRACE_SLOT_BYTES) {
            return len < 0 ? -1 : kev_file_truncated(&kev->file, error);
        }
        if (at == 0 && n >= 3) {
            third_note(kev, entry, slots);
        }
        *sum = kev_slots_sum(kev, *sum, slots, n);
    }
    return 0;
}

/* Returns how many buffers may be missing before this one, by their numbers. */
static uint32_t gone_most(const struct kev *kev, const struct kev_entry *entry)
{
    const struct kev_cpu_info *info = &kev->info.cpu[entry->cpu];
    uint32_t last = info->buffers == 0 ? 0 : info->last_sequence;
    uint32_t ahead = kev->index.gaps[entry->cpu].ahead;

    return entry->sequence > last && entry->sequence - last - 1 > ahead
               ? entry->sequence - last - 1 - ahead
               : 0;
}

int kev_place_buffer(struct kev *kev, struct kev_entry *entry, uint32_t *gone,
                     struct kev_error *error)
{
    struct kev_group group = {.cpu = entry->cpu,
                              .at = entry->offset,
                              .buffers = 1,
                              .most = gone_most(kev, entry),
                              .check = entry->check};

    *gone = 0;
    if (buffer_sum(kev, entry, &group.sum, error) != 0) {
        return -1;
    }
    entry->place = kev_place_look(kev, &group, gone);
    return 0;
}

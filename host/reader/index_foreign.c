/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of another kernel's capture: one stream of buffers whose CPUs may be mixed, whose
 * counts are not to be relied on, and whose last slot may be cut. Every slot's header is looked at
 * once; a run starts at each BUFFER slot. If no run mixes CPUs, each CPU gets its own lane, so that
 * the merge by time works; else the file's order is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"

struct scan {
    struct kev_entry entry; /* the run being gathered */
    bool mixed;
};

static int run_close(struct kev *kev, struct scan *scan, struct kev_error *error)
{
    if (scan->entry.slots == 0) {
        return 0;
    }
    if (kev_index_add(kev, &scan->entry, error) != 0) {
        return -1;
    }
    scan->entry.slots = 0;
    return 0;
}

static void index_foreign_sequence_count(struct kev *kev, const struct trace_slot *slot)
{
    struct kev_cpu_info *info = &kev->info.cpu[TRACE_GET_CPU(slot->header)];

    if (info->buffers == 0) {
        info->first_sequence = slot->d1;
    } else if (slot->d1 > info->last_sequence && slot->d1 - info->last_sequence > 1) {
        info->gaps++;
        info->missing += slot->d1 - info->last_sequence - 1;
    }
    info->last_sequence = slot->d1;
    info->buffers++;
    kev->info.buffers++;
}

static int slot_scan(struct kev *kev, struct scan *scan, const struct trace_slot *slot,
                     uint64_t offset, struct kev_error *error)
{
    uint32_t header = slot->header;
    bool start = TRACE_GET_CLASS(header) == TRACE_CLASS_CONTROL &&
                 TRACE_GET_EVENT(header) == TRACE_CONTROL_BUFFER;

    if ((start || scan->entry.slots == KEV_WINDOW_SLOTS) && run_close(kev, scan, error) != 0) {
        return -1;
    }
    if (start) {
        index_foreign_sequence_count(kev, slot);
    }
    if (scan->entry.slots == 0) {
        scan->entry.offset = offset;
        scan->entry.kind = KEV_STREAM;
        scan->entry.cpu = (uint8_t)TRACE_GET_CPU(header);
        scan->entry.sequence = start ? slot->d1 : 0;
    }
    if (TRACE_GET_CPU(header) != scan->entry.cpu && TRACE_GET_CLASS(header) != 0) {
        scan->mixed = true;
    }
    if (TRACE_GET_CPU(header) >= kev->info.ncpu) {
        kev->info.ncpu = TRACE_GET_CPU(header) + 1;
    }
    scan->entry.slots++;
    return 0;
}

static int scan_chunk(struct kev *kev, struct scan *scan, const struct trace_slot *slots,
                      unsigned n, struct kev_error *error)
{
    for (unsigned i = 0; i < n; i++) {
        struct trace_slot slot = slots[i];

        kev_slot_swap(kev, &slot);
        if (slot_scan(kev, scan, &slot, kev->index.end, error) != 0) {
            return -1;
        }
        kev->index.end += TRACE_SLOT_BYTES;
    }
    if (kev->options.progress != NULL) {
        kev->options.progress(kev->options.progress_arg, kev->index.end, kev->file.size);
    }
    return 0;
}

/* Restrings the entries: one lane per CPU. */
static int split_lanes(struct kev *kev, struct kev_error *error)
{
    struct kev_index *index = &kev->index;
    struct kev_lane *all = kev->lanes[0];

    if (all != NULL) {
        all->first = KEV_NONE;
        all->last = KEV_NONE;
    }
    for (uint32_t i = 0; i < index->count; i++) {
        struct kev_entry *entry = &index->entries[i];
        struct kev_lane *lane = kev_lane_get(kev, entry->cpu);

        if (lane == NULL) {
            return kev_fail_memory(error, kev->file.path, "out of memory");
        }
        entry->lane = entry->cpu;
        entry->next = KEV_NONE;
        if (lane->first == KEV_NONE) {
            lane->first = i;
        } else {
            index->entries[lane->last].next = i;
        }
        lane->last = i;
    }
    return 0;
}

int kev_index_foreign(struct kev *kev, struct kev_error *error)
{
    const size_t bytes = 1 << 20, more = sizeof(KEV_BEGIN); /* it may begin near a piece's end */
    struct trace_slot *slots = malloc(bytes + more);
    const char *another = NULL;
    struct scan scan = {.mixed = kev->options.follow};
    long len = 0;

    if (slots == NULL) {
        return kev_fail_memory(error, kev->file.path, "out of memory");
    }
    while (another == NULL) {
        len = kev_file_read(&kev->file, kev->index.end, slots, bytes + more, error);
        another = len < 0 ? NULL : memmem(slots, (size_t)len, KEV_BEGIN, more - 1);
        len = another != NULL     ? another - (const char *)slots
              : len > (long)bytes ? (long)bytes
                                  : len;
        if (len < TRACE_SLOT_BYTES) {
            break;
        }
        if (scan_chunk(kev, &scan, slots, (unsigned)(len / TRACE_SLOT_BYTES), error) != 0) {
            len = -1;
            break;
        }
    }
    if (another != NULL && len >= 0) {
        kev_another_take(kev, kev->index.end + (uint64_t)len % TRACE_SLOT_BYTES);
    }
    free(slots);
    if (len < 0 || run_close(kev, &scan, error) != 0) {
        return -1;
    }
    kev->per_cpu = !scan.mixed;
    return scan.mixed ? 0 : split_lanes(kev, error);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of a Kymo capture: one pass that hops from buffer to buffer by BUFFER's count, checks
 * every head, and strings each CPU's buffers together. DROPPED slots may stand between and after
 * buffers: the totals that the tracelogger appends.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"
#include "lib/capture/check.h"

#define PROGRESS_EVERY 4096

int kev_index_add(struct kev *kev, const struct kev_entry *entry, struct kev_error *error)
{
    struct kev_index *index = &kev->index;
    struct kev_lane *lane = kev_lane_get(kev, entry->lane);

    if (index->count == index->room) {
        uint32_t room = index->room == 0 ? 1024 : index->room * 2;
        struct kev_entry *entries =
            room > UINT32_MAX / 2 ? NULL : realloc(index->entries, room * sizeof(*entries));

        if (entries == NULL) {
            return kev_fail_memory(error, kev->file.path, "out of memory: too many buffers");
        }
        index->entries = entries;
        index->room = room;
    }
    if (lane == NULL) {
        return kev_fail_memory(error, kev->file.path, "out of memory");
    }
    index->entries[index->count] = *entry;
    index->entries[index->count].next = KEV_NONE;
    if (lane->first == KEV_NONE) {
        lane->first = index->count;
    } else {
        index->entries[lane->last].next = index->count;
    }
    lane->last = index->count++;
    return 0;
}

/* Another buffer of this CPU: its sequence for the account of losses. */
static int reader_index_sequence_count(struct kev *kev, const struct kev_entry *entry,
                                       uint32_t gone, struct kev_error *error)
{
    struct kev_cpu_info *info = &kev->info.cpu[entry->cpu];
    uint32_t sequence = entry->sequence;

    if (info->buffers == 0) {
        info->first_sequence = sequence;
    } else if (sequence > info->last_sequence && sequence - info->last_sequence > 1) {
        info->gaps++;
        info->missing += sequence - info->last_sequence - 1;
    }
    if (kev_gap_add(kev, entry, gone, error) != 0) {
        return -1;
    }
    info->last_sequence = sequence;
    info->buffers++;
    kev->info.buffers++;
    return kev_gap_look(kev, entry, error);
}

static int order_check(struct kev *kev, const struct kev_entry *entry, struct kev_error *error)
{
    struct kev_cpu_info *info = &kev->info.cpu[entry->cpu];
    uint64_t last_time = kev->index.last_time[entry->cpu];
    bool sequence_bad = info->buffers > 0 && entry->sequence <= info->last_sequence;

    if (!sequence_bad && entry->time >= last_time) {
        return 0;
    }
    if (!kev->options.recover && sequence_bad) {
        return kev_fail(kev, error, entry->offset,
                        "buffer %" PRIu32 " of CPU %u comes after buffer %" PRIu32, entry->sequence,
                        entry->cpu, info->last_sequence);
    }
    if (!kev->options.recover) {
        return kev_fail(kev, error, entry->offset,
                        "buffer %" PRIu32 " of CPU %u starts at 0x%016" PRIx64
                        ", before the one that precedes it (0x%016" PRIx64 ")",
                        entry->sequence, entry->cpu, entry->time, last_time);
    }
    kev_note(kev, entry->offset, sequence_bad ? "buffer out of sequence" : "time runs backwards");
    kev->damage.sequences++;
    return 0;
}

/* The 64-bit time of the BUFFER slot, which comes before the TIME slot that says its high word. */
static uint64_t pair_time(const struct trace_slot pair[2])
{
    uint64_t high = pair[1].d1;

    if (pair[0].time > pair[1].d2 && high > 0 && pair[0].time > pair[1].time) {
        high--;
    }
    return high << 32 | pair[0].time;
}

/* `whole`: the file does not end inside it, so it has its trailer. */
static int buffer_add(struct kev *kev, const struct trace_slot pair[2], uint64_t offset,
                      uint32_t slots, bool whole, struct kev_error *error)
{
    struct kev_entry entry = {
        .offset = offset,
        .time = pair_time(pair),
        .slots = slots,
        .sequence = pair[0].d1,
        .lane = (uint8_t)TRACE_GET_CPU(pair[0].header),
        .cpu = (uint8_t)TRACE_GET_CPU(pair[0].header),
        .kind = KEV_BUFFER,
    };

    if (order_check(kev, &entry, error) != 0) {
        return -1;
    }
    uint64_t end = offset + (uint64_t)slots * TRACE_SLOT_BYTES;
    uint32_t gone = 0;
    if (whole && kev->checked && kev_trailer_take(kev, &entry, end, error) != 0) {
        return -1;
    }
    if (entry.checked && kev_place_buffer(kev, &entry, &gone, error) != 0) {
        return -1;
    }
    kev->index.end = whole && kev->checked ? kev->index.end : end;
    if (reader_index_sequence_count(kev, &entry, gone, error) != 0) {
        return -1;
    }
    kev->index.last_time[entry.cpu] = entry.time;
    return kev_index_add(kev, &entry, error);
}

static int reader_index_tail_add(struct kev *kev, const struct trace_slot *slot, uint64_t offset,
                                 struct kev_error *error)
{
    struct kev_entry entry = {
        .offset = offset,
        .slots = 1,
        .lane = (uint8_t)TRACE_GET_CPU(slot->header),
        .cpu = (uint8_t)TRACE_GET_CPU(slot->header),
        .kind = KEV_TAIL,
    };

    struct kev_account said = {0, 0};

    kev_account_add(&said, slot);
    kev_gap_account(kev, entry.cpu, &said);
    kev->index.end = offset + TRACE_SLOT_BYTES;
    return kev_index_add(kev, &entry, error);
}

static int head_complain(struct kev *kev, const struct trace_slot pair[2], int have,
                         struct kev_error *error)
{
    uint64_t at = kev->index.end;

    if (have == 0) {
        return kev_fail_incomplete(kev, error, at, "the file ends inside a slot (%u of %d bytes)",
                                   (unsigned)(kev->file.size - at), TRACE_SLOT_BYTES);
    }
    if (have == 1 && TRACE_GET_CLASS(pair[0].header) == TRACE_CLASS_CONTROL) {
        return kev_fail_incomplete(kev, error, at, "the file ends inside a buffer's head");
    }
    return kev_fail(kev, error, at,
                    "no buffer starts here: expected BUFFER and TIME, found slots with headers "
                    "0x%08" PRIx32 " (d1 %" PRIu32 ", d2 %" PRIu32 ") and 0x%08" PRIx32,
                    pair[0].header, pair[0].d1, pair[0].d2, pair[1].header);
}

/* The file ends inside a buffer: its whole slots count, unless more may come. */
static int buffer_cut(struct kev *kev, const struct trace_slot pair[2], uint64_t at,
                      struct kev_error *error)
{
    uint64_t room = (kev->file.size - at) / TRACE_SLOT_BYTES;
    uint32_t have = room < pair[0].d2 ? (uint32_t)room : pair[0].d2;

    if (!kev->options.follow && buffer_add(kev, pair, at, have, false, error) != 0) {
        return -1;
    }
    return kev_fail_incomplete(kev, error, kev->file.size,
                               "the file ends inside buffer %" PRIu32 " of CPU %u, which starts at "
                               "byte %" PRIu64 " and has %" PRIu32 " slots",
                               pair[0].d1, (unsigned)TRACE_GET_CPU(pair[0].header), at, pair[0].d2);
}

/* A plausible buffer starts at `at`. */
static int buffer_step(struct kev *kev, const struct trace_slot pair[2], uint64_t at,
                       struct kev_error *error)
{
    uint32_t slots = pair[0].d2;
    uint64_t trailer = kev->checked ? CAPTURE_TRAILER_BYTES : 0;
    bool whole = at + (uint64_t)slots * TRACE_SLOT_BYTES + trailer <= kev->file.size;

    if (kev->options.recover && (whole || !kev->options.follow) &&
        kev_count_verify(kev, at, &slots, error) != 0) {
        return -1;
    }
    uint64_t end = at + (uint64_t)slots * TRACE_SLOT_BYTES;
    if (kev->options.recover && !kev->options.follow && end <= kev->file.size && !whole) {
        kev_note(kev, end, "the file ends inside a buffer");
        return buffer_add(kev, pair, at, slots, false, error);
    }
    if (end + trailer > kev->file.size) {
        return buffer_cut(kev, pair, at, error);
    }
    return buffer_add(kev, pair, at, slots, true, error);
}

/* Nothing belongs after the end mark. Recovering: it is passed over. */
static int behind_end(struct kev *kev, uint64_t at, struct kev_error *error)
{
    if (!kev->options.recover) {
        return kev_fail(kev, error, at, "%" PRIu64 " bytes follow the end mark",
                        kev->file.size - at);
    }
    kev_note(kev, at, "bytes follow the end mark");
    kev->damage.places++;
    kev->damage.bytes += kev->file.size - at;
    kev->index.end = kev->file.size;
    return 1;
}

/* Makes a step at index.end. 1: continues, 0: the end, -1. */
static int index_step(struct kev *kev, struct kev_error *error)
{
    uint64_t at = kev->index.end;
    struct trace_slot pair[2];
    int have = at >= kev->file.size ? -2 : kev_pair_read(kev, at, pair, error);

    if (have < 0) {
        return have == -2 ? 0 : -1;
    }
    if (have >= 1 && (kev->info.ended || !kev_pair_plausible(kev, pair)) &&
        kev_another_begins(kev, at)) {
        kev_another_take(kev, at);
        return 0;
    }
    if (kev->info.ended) {
        return behind_end(kev, at, error);
    }
    if (have >= 1 && kev->checked &&
        (kev_slot_is_tail(kev, &pair[0]) || kev_slot_is_end(kev, &pair[0]))) {
        return kev_group_take(kev, &pair[0], error) == 0 ? 1 : -1;
    }
    if (have >= 1 && kev_slot_is_tail(kev, &pair[0])) {
        return reader_index_tail_add(kev, &pair[0], at, error) == 0 ? 1 : -1;
    }
    if (have < 2 || !kev_pair_plausible(kev, pair)) {
        int result = kev->options.recover ? kev_skip_damage(kev, error)
                                          : head_complain(kev, pair, have, error);

        return result == 0 ? 1 : -1;
    }
    return buffer_step(kev, pair, at, error) == 0 ? 1 : -1;
}

/* The end is too early: nothing wrong if more may come, else kev_next() tells at the end. */
static void index_cut(struct kev *kev, const struct kev_error *error)
{
    if (!kev->options.follow) {
        kev->cut = *error;
    }
}

/* The file's end, for now: it is the capture's unless it is followed. */
static int index_ended(struct kev *kev, struct kev_error *error)
{
    if (kev->options.follow) {
        return 0;
    }
    kev_end_check(kev);
    return kev_gap_finish(kev, error);
}

int kev_index_kymo(struct kev *kev, struct kev_error *error)
{
    if (kev->checked && !kev->index.head_seen && kev_head_check(kev, error) != 0) {
        if (!error->incomplete) {
            return -1;
        }
        index_cut(kev, error);
        return index_ended(kev, error);
    }
    for (uint32_t steps = 1;; steps++) {
        int result = index_step(kev, error);

        if (result < 0 && error->incomplete) {
            index_cut(kev, error);
            return index_ended(kev, error);
        }
        if (result <= 0) {
            return result < 0 ? -1 : index_ended(kev, error);
        }
        if (kev->options.progress != NULL && steps % PROGRESS_EVERY == 0) {
            kev->options.progress(kev->options.progress_arg, kev->index.end, kev->file.size);
        }
    }
}

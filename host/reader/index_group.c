/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index's look at what makes a capture tamper-evident (docs/reference/format.md §4): the sum
 * over the header, CHECK and BUFFER_END after each buffer, groups of DROPPED slots outside of
 * buffers, and the end mark. The sum over a buffer's slots is compared when the buffer is loaded
 * (buffer.c). Proof: test/host/reader/check_test.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/reader/reader.h"
#include "lib/capture/check.h"

#define CONTROL(event) TRACE_HEADER(0, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, event)
#define GROUP_MOST 4096 /* slots of a group: more is damage */
#define GONE_MOST 65536 /* buffers missing before a group of DROPPED slots: more is damage */

static bool index_group_is_control(const struct trace_slot *slot, unsigned event)
{
    return (slot->header & ~TRACE_CPU_MASK) == CONTROL(event);
}

bool kev_pair_is_trailer(const struct trace_slot pair[2])
{
    return index_group_is_control(&pair[0], TRACE_CONTROL_CHECK) &&
           index_group_is_control(&pair[1], TRACE_CONTROL_BUFFER_END) &&
           TRACE_GET_CPU(pair[0].header) == TRACE_GET_CPU(pair[1].header) &&
           pair[0].time == pair[1].time && pair[1].d1 == TRACE_BUFFER_END_WORD &&
           pair[1].d2 == TRACE_BUFFER_END_WORD;
}

bool kev_slot_is_end(const struct kev *kev, const struct trace_slot *slot)
{
    return index_group_is_control(slot, TRACE_CONTROL_END) &&
           TRACE_GET_CPU(slot->header) < kev->info.ncpu;
}

static uint64_t index_group_check_value(const struct trace_slot *check)
{
    return (uint64_t)check->d2 << 32 | check->d1;
}

static void index_group_fold_check(struct kev *kev, const struct trace_slot *check)
{
    kev->index.all = capture_sum_word(kev->index.all, check->d1);
    kev->index.all = capture_sum_word(kev->index.all, check->d2);
}

/* Recovering: the damage is noted, and 0 is returned. */
static int group_bad(struct kev *kev, uint64_t offset, const char *what, struct kev_error *error)
{
    if (!kev->options.recover) {
        return kev_fail(kev, error, offset, "%s", what);
    }
    kev_note(kev, offset, what);
    kev->damage.places++;
    return 0;
}

int kev_head_check(struct kev *kev, struct kev_error *error)
{
    uint64_t at = kev->index.end;
    struct trace_slot pair[2];
    int have = kev_pair_read(kev, at, pair, error);

    if (have < 0) {
        return -1;
    }
    if (have < 2) {
        return kev_fail_incomplete(kev, error, kev->file.size,
                                   "the file ends before CHECK and BUFFER_END of its header");
    }
    kev->index.head_seen = true;
    if (!kev_pair_is_trailer(pair)) {
        kev->check_unknown = kev->options.recover; /* perhaps only the version is damaged */
        kev->checked = kev->info.checked = !kev->check_unknown;
        return group_bad(kev, at, "CHECK and BUFFER_END of the header are not where it ends",
                         error);
    }
    index_group_fold_check(kev, &pair[0]);
    kev->index.end = at + sizeof(pair);
    if (index_group_check_value(&pair[0]) == kev->head_sum && TRACE_GET_CPU(pair[0].header) == 0 &&
        pair[0].time == 0) {
        return 0;
    }
    return group_bad(kev, 0, "the header or the system page is damaged: CHECK has another sum",
                     error);
}

/* Recovering, and what is after the buffer is no trailer: whether the next group begins after a
 * damaged one. */
static int trailer_lost(struct kev *kev, uint64_t end, struct kev_error *error)
{
    uint64_t behind = end + CAPTURE_TRAILER_BYTES;
    struct trace_slot pair[2];
    int have = kev_pair_read(kev, end, pair, error);

    if (have < 0 || (have == 2 && kev_pair_plausible(kev, pair))) {
        return have < 0 ? -1 : 0;
    }
    have = kev_pair_read(kev, behind, pair, error);
    if (behind == kev->file.size || (have == 2 && kev_pair_plausible(kev, pair)) ||
        (have >= 1 && (kev_slot_is_tail(kev, &pair[0]) || kev_slot_is_end(kev, &pair[0])))) {
        kev->index.end = behind;
    }
    return have < 0 ? -1 : 0;
}

int kev_trailer_take(struct kev *kev, struct kev_entry *entry, uint64_t end,
                     struct kev_error *error)
{
    struct trace_slot pair[2];
    int have = kev_pair_read(kev, end, pair, error);

    kev->index.end = end;
    if (have < 0) {
        return -1;
    }
    if (have == 2 && kev_pair_is_trailer(pair) && TRACE_GET_CPU(pair[0].header) == entry->cpu) {
        entry->checked = true;
        entry->check = index_group_check_value(&pair[0]);
        entry->check_time = pair[0].time;
        kev->index.end = end + sizeof(pair);
        index_group_fold_check(kev, &pair[0]);
        return 0;
    }
    if (!kev->options.recover) {
        return kev_fail(kev, error, end,
                        "buffer %" PRIu32 " of CPU %u ends here by its count of %" PRIu32
                        " slots, but CHECK and BUFFER_END don't follow it",
                        entry->sequence, entry->cpu, entry->slots);
    }
    kev_note(kev, end, "CHECK and BUFFER_END don't follow a buffer");
    kev->damage.places++;
    return trailer_lost(kev, end, error);
}

/* ---- groups of DROPPED slots, the end mark ----------------------------------------- */

struct group {
    uint64_t at, sum;
    uint32_t slots; /* DROPPED */
    uint32_t time, cpu;
    bool end;                /* it has END */
    struct kev_account said; /* of lost buffers */
    struct trace_slot mark;
};

/* The next slot belongs to the group: DROPPED, or END as its last. */
static bool group_goes_on(const struct group *group, const struct trace_slot *slot)
{
    return !group->end && TRACE_GET_CPU(slot->header) == group->cpu && slot->time == group->time &&
           (index_group_is_control(slot, TRACE_CONTROL_DROPPED) ||
            index_group_is_control(slot, TRACE_CONTROL_END));
}

/* 1: the group's trailer is in pair, 0: it is not there, -1. */
static int group_read(struct kev *kev, struct group *group, struct trace_slot pair[2],
                      struct kev_error *error)
{
    uint64_t at = group->at;
    int have = kev_pair_read(kev, at, pair, error);

    while (have > 0 && group_goes_on(group, &pair[0]) && group->slots < GROUP_MOST) {
        group->end = index_group_is_control(&pair[0], TRACE_CONTROL_END);
        group->slots += !group->end;
        group->mark = pair[0];
        group->sum = capture_sum_slots(group->sum, pair, 1);
        at += TRACE_SLOT_BYTES;
        if (!group->end) {
            kev_account_add(&group->said, &pair[0]);
        }
        have = kev_pair_read(kev, at, pair, error);
    }
    if (have < 0) {
        return -1;
    }
    if (have < 2 && at + CAPTURE_TRAILER_BYTES > kev->file.size) {
        return kev_fail_incomplete(kev, error, kev->file.size,
                                   "the file ends inside a group of DROPPED slots or its end mark");
    }
    kev->index.end = at;
    return kev_pair_is_trailer(pair) && TRACE_GET_CPU(pair[0].header) == group->cpu &&
           pair[0].time == group->time;
}

static int index_group_tail_add(struct kev *kev, const struct group *group, struct kev_error *error)
{
    struct kev_entry entry = {
        .offset = group->at,
        .slots = group->slots,
        .lane = (uint8_t)group->cpu,
        .cpu = (uint8_t)group->cpu,
        .kind = KEV_TAIL,
    };

    return group->slots == 0 ? 0 : kev_index_add(kev, &entry, error);
}

void kev_late(struct kev *kev, uint64_t offset, const char *what)
{
    if (kev->options.recover) {
        kev_note(kev, offset, what);
    } else if (kev->late.text[0] == '\0') {
        kev_fail(kev, &kev->late, offset, "%s", what);
        kev->late.given = true;
        kev->late.recoverable = false;
    }
}

/* Compares END with the capture's content. */
static int end_compare(struct kev *kev, const struct group *group, uint64_t sum, uint64_t check,
                       struct kev_error *error)
{
    const struct kev_cpu_info *info = &kev->info.cpu[group->cpu];
    int64_t gone = group->mark.d1 - (int64_t)info->buffers - kev->index.gaps[group->cpu].all;
    char text[240];

    if (group->mark.d1 != info->buffers || group->mark.d2 != info->last_sequence) {
        snprintf(text, sizeof(text),
                 "the end mark of CPU %u counts %" PRIu32 " buffers, the last one number %" PRIu32
                 "; here are %" PRIu64 ", the last one %" PRIu32,
                 group->cpu, group->mark.d1, group->mark.d2, info->buffers, info->last_sequence);
        kev_late(kev, group->at, text);
    } else if (sum != check) {
        snprintf(text, sizeof(text),
                 "the end mark of CPU %u has another sum than what is before it: buffers are "
                 "missing, duplicated or moved, or the mark is damaged",
                 group->cpu);
        kev_late(kev, group->at, text);
    }
    return sum != check && gone > 0 && gone <= group->mark.d2
               ? kev_gap_ahead(kev, group->cpu, (uint32_t)gone, group->at, error)
               : 0;
}

static int end_take(struct kev *kev, const struct group *group, const struct trace_slot *check,
                    struct kev_error *error)
{
    uint64_t sum = capture_sum_word(group->sum, (uint32_t)kev->index.all);

    sum = capture_sum_word(sum, (uint32_t)(kev->index.all >> 32));
    if (group->cpu != kev->index.ended) {
        return group_bad(kev, group->at, "the end marks of the CPUs are not in their order", error);
    }
    sum =
        capture_sum_place(sum, (struct capture_place){capture_place_at(group->at), group->mark.d1});
    if (end_compare(kev, group, sum, index_group_check_value(check), error) != 0) {
        return -1;
    }
    kev->index.ended++;
    kev->info.ended = kev->index.ended == kev->info.ncpu;
    return 0;
}

/* Continues the sum of DROPPED slots with their place. */
static int dropped_place(struct kev *kev, struct group *group, uint64_t check,
                         struct kev_error *error)
{
    struct kev_group looked = {
        .cpu = group->cpu, .at = group->at, .most = GONE_MOST, .sum = group->sum, .check = check};
    uint32_t gone = 0;

    group->sum = capture_sum_place(group->sum, kev_place_look(kev, &looked, &gone));
    return gone == 0 ? 0 : kev_gap_ahead(kev, group->cpu, gone, group->at, error);
}

int kev_group_take(struct kev *kev, const struct trace_slot *first, struct kev_error *error)
{
    struct group group = {.at = kev->index.end,
                          .sum = CAPTURE_SUM_FIRST,
                          .time = first->time,
                          .cpu = TRACE_GET_CPU(first->header)};
    struct trace_slot pair[2];
    int result = group_read(kev, &group, pair, error);
    bool whole = result == 1;

    if (result < 0) {
        return -1;
    }
    if (whole && !group.end &&
        dropped_place(kev, &group, index_group_check_value(&pair[0]), error) != 0) {
        return -1;
    }
    if (!whole || (!group.end && index_group_check_value(&pair[0]) != group.sum)) {
        result = group_bad(kev, group.at,
                           whole ? "DROPPED slots are damaged: CHECK has another sum"
                                 : "no CHECK and BUFFER_END follow these DROPPED slots",
                           error);
    } else {
        result = group.end ? end_take(kev, &group, &pair[0], error) : 0;
    }
    kev_gap_account(kev, group.cpu, &group.said);
    if (whole) {
        index_group_fold_check(kev, &pair[0]);
        kev->index.end += sizeof(pair);
    }
    return result == 0 ? index_group_tail_add(kev, &group, error) : result;
}

void kev_end_check(struct kev *kev)
{
    if (!kev->checked || kev->info.ended || kev->cut.text[0] != '\0') {
        return;
    }
    uint64_t end = kev->info.next_capture != 0 ? kev->info.next_capture : kev->file.size;

    if (kev->options.recover) {
        kev_note(kev, end, "the end mark is not there: the capture was cut");
        return;
    }
    kev_fail_incomplete(kev, &kev->cut, end,
                        "the file ends without an end mark: it was cut between two buffers, or its "
                        "writer ended early");
}

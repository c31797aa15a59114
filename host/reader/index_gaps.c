/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gaps in a CPU's sequence numbers (docs/format.md §6): each must be followed by DROPPED slots that
 * account for its buffers, reason "overwritten" or "not written", at the head of a later buffer of
 * that CPU or outside of buffers. Every buffer that the kernel closes has at least one event, so a
 * gap of n buffers is accounted for when such DROPPED slots behind it count n events or more.
 * Proof: test/host/test_check.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/reader/internal.h"
#include "kernel/abi/sys/trace.h"

#define HEAD_SLOTS 2

int kev_gap_add(struct kev *kev, const struct kev_entry *entry, struct kev_error *error)
{
    const struct kev_cpu_info *info = &kev->info.cpu[entry->cpu];
    struct kev_gaps *gaps = &kev->index.gaps[entry->cpu];

    if (gaps->count == gaps->room) {
        uint32_t room = gaps->room == 0 ? 16 : gaps->room * 2;
        struct kev_missing *more = realloc(gaps->gaps, room * sizeof(*more));

        if (more == NULL) {
            return kev_fail_plain(error, kev->file.path, "out of memory: too many gaps");
        }
        gaps->gaps = more;
        gaps->room = room;
    }
    gaps->gaps[gaps->count++] = (struct kev_missing){entry->cpu, info->last_sequence + 1,
                                                     entry->sequence - 1, entry->offset};
    gaps->buffers += entry->sequence - info->last_sequence - 1;
    return 0;
}

uint32_t kev_gap_events(const struct trace_slot *dropped)
{
    uint32_t reason = dropped->d1 >> 8;

    return reason == KYMO_DROP_OVERWRITTEN || reason == KYMO_DROP_UNWRITTEN ? dropped->d2 : 0;
}

void kev_gap_account(struct kev *kev, unsigned cpu, uint64_t events)
{
    struct kev_gaps *gaps = &kev->index.gaps[cpu];

    if (gaps->count == 0) {
        return;
    }
    gaps->accounted += events;
    if (gaps->accounted >= gaps->buffers) {
        gaps->count = 0;
        gaps->buffers = gaps->accounted = 0;
    }
}

/* The DROPPED slots at the head of a buffer; they are looked at only if a gap is open. */
int kev_gap_look(struct kev *kev, const struct kev_entry *entry, struct kev_error *error)
{
    struct trace_slot pair[2];

    for (uint32_t i = HEAD_SLOTS; i < entry->slots && kev->index.gaps[entry->cpu].count > 0; i++) {
        int have = kev_pair_read(kev, entry->offset + (uint64_t)i * TRACE_SLOT_BYTES, pair, error);

        if (have < 0) {
            return -1;
        }
        if (have < 1 || !kev_slot_is_tail(kev, &pair[0])) {
            break;
        }
        kev_gap_account(kev, entry->cpu, kev_gap_events(&pair[0]));
    }
    return 0;
}

static void gaps_report(struct kev *kev)
{
    const struct kev_missing *first = &kev->index.missing[0];
    char more[80] = "";
    uint64_t buffers = 0;

    for (unsigned i = 0; i < kev->info.nmissing; i++) {
        buffers += kev->index.missing[i].last - (uint64_t)kev->index.missing[i].first + 1;
    }
    kev->damage.unaccounted = buffers;
    if (kev->options.recover) {
        kev_note(kev, first->offset, "buffers are missing that no DROPPED accounts for");
        return;
    }
    if (kev->info.nmissing > 1) {
        snprintf(more, sizeof(more), "; %" PRIu64 " buffers in %u places in all", buffers,
                 kev->info.nmissing);
    }
    if (first->first == first->last) {
        kev_fail(kev, &kev->late, first->offset,
                 "buffer %" PRIu32 " of CPU %u is missing, and no DROPPED accounts for it%s",
                 first->first, first->cpu, more);
    } else {
        kev_fail(kev, &kev->late, first->offset,
                 "buffers %" PRIu32 " to %" PRIu32
                 " of CPU %u are missing, and no DROPPED accounts for them%s",
                 first->first, first->last, first->cpu, more);
    }
    kev->late.given = true;
    kev->late.recoverable = false;
}

/* What is still open at the file's end is missing. */
int kev_gap_finish(struct kev *kev, struct kev_error *error)
{
    size_t count = 0;

    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        count += kev->index.gaps[cpu].count;
    }
    if (count == 0 || kev->index.missing != NULL) {
        return 0;
    }
    kev->index.missing = calloc(count, sizeof(*kev->index.missing));
    if (kev->index.missing == NULL) {
        return kev_fail_plain(error, kev->file.path, "out of memory: too many gaps");
    }
    kev->info.nmissing = 0;
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        const struct kev_gaps *gaps = &kev->index.gaps[cpu];

        if (gaps->count > 0) {
            memcpy(&kev->index.missing[kev->info.nmissing], gaps->gaps,
                   gaps->count * sizeof(*gaps->gaps));
            kev->info.nmissing += gaps->count;
        }
    }
    kev->info.missing = kev->index.missing;
    gaps_report(kev);
    return 0;
}

void kev_gap_free(struct kev *kev)
{
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        free(kev->index.gaps[cpu].gaps);
    }
    free(kev->index.missing);
}

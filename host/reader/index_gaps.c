/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers that a capture lacks (docs/reference/format.md §6), by two accounts.
 *
 * In format 1.02 each group of slots says how many buffers of its CPU were in the file before it
 * (index_place.c): those that are not here now are gone, whatever else was lost.
 *
 * The other gaps in a CPU's sequence numbers are buffers that never were in the file: each must be
 * followed by DROPPED slots that account for them, reason "overwritten", "not written" or
 * "recycled", at the head of a later buffer of that CPU or outside of buffers. Every lost buffer
 * counts as one event at least, so a gap of n buffers is accounted for when such DROPPED slots
 * after it count n events or more. In older formats this is the only account.
 *
 * The tracelogger writes what a refused buffer held at once, so that no power cut costs the
 * account. The CPU's next buffer may come later: then the slots stand before the gap that they
 * account for, between the two buffers.
 * Proof: test/host/reader/check_test.c, place_test.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"
#include "abi/sys/trace.h"

#define HEAD_SLOTS 2

static int gaps_row_add(struct kev *kev, struct kev_rows *rows, const struct kev_missing *row,
                        struct kev_error *error)
{
    if (rows->count == rows->room) {
        uint32_t room = rows->room == 0 ? 16 : rows->room * 2;
        struct kev_missing *more = realloc(rows->row, room * sizeof(*more));

        if (more == NULL) {
            return kev_fail_memory(error, kev->file.path, "out of memory: too many gaps");
        }
        rows->row = more;
        rows->room = room;
    }
    rows->row[rows->count++] = *row;
    return 0;
}

int kev_gap_ahead(struct kev *kev, unsigned cpu, uint32_t gone, uint64_t offset,
                  struct kev_error *error)
{
    struct kev_gaps *gaps = &kev->index.gaps[cpu];
    uint32_t last = kev->info.cpu[cpu].buffers == 0 ? 0 : kev->info.cpu[cpu].last_sequence;
    struct kev_missing row = {cpu, last + 1, last + gone, gone, offset, true};

    gaps->all += gone;
    gaps->ahead += gone;
    if (gaps->ahead == gone) {
        return gaps_row_add(kev, &gaps->gone, &row, error);
    }
    gaps->gone.row[gaps->gone.count - 1].last += gone;
    gaps->gone.row[gaps->gone.count - 1].buffers += gone;
    return 0;
}

/* Counts the numbers before this buffer that were in the file. */
static int gone_add(struct kev *kev, const struct kev_entry *entry, uint32_t first, uint32_t gone,
                    struct kev_error *error)
{
    struct kev_gaps *gaps = &kev->index.gaps[entry->cpu];
    struct kev_missing row = {entry->cpu, first, entry->sequence - 1, gone, entry->offset, true};
    int result = 0;

    gaps->all += gone;
    if (gaps->ahead > 0) { /* reported by what came before: now the numbers are known */
        struct kev_missing *before = &gaps->gone.row[gaps->gone.count - 1];

        row.buffers += before->buffers;
        *before = row;
    } else if (gone > 0) {
        result = gaps_row_add(kev, &gaps->gone, &row, error);
    }
    gaps->ahead = 0;
    return result;
}

/* So many events are accounted for: the open gaps are not missing if that is enough. What is left
 * of a refused buffer's account is for its own gap: it says what the buffer said of others, too. */
static void gaps_account_events(struct kev_gaps *gaps, uint64_t events)
{
    gaps->accounted += events;
    if (gaps->accounted >= gaps->buffers) {
        uint64_t left = gaps->accounted - gaps->buffers;

        gaps->open.count = 0;
        gaps->buffers = gaps->accounted = 0;
        gaps->told = left < gaps->outside ? left : gaps->outside;
    }
}

int kev_gap_add(struct kev *kev, const struct kev_entry *entry, uint32_t gone,
                struct kev_error *error)
{
    const struct kev_cpu_info *info = &kev->info.cpu[entry->cpu];
    struct kev_gaps *gaps = &kev->index.gaps[entry->cpu];
    uint32_t all = gone + gaps->ahead;
    bool later = info->buffers > 0 && entry->sequence > info->last_sequence;
    uint32_t numbers = later ? entry->sequence - info->last_sequence - 1 : 0;
    uint32_t first = later ? info->last_sequence + 1 : 1;
    uint64_t told = gaps->told;

    gaps->told = gaps->outside = 0; /* for this buffer's gap, and for no later one */
    if (all > 0 && gone_add(kev, entry, first, gone, error) != 0) {
        return -1;
    }
    if (numbers <= all) {
        return 0;
    }
    struct kev_missing row = {entry->cpu,    first,         entry->sequence - 1,
                              numbers - all, entry->offset, false};
    gaps->buffers += numbers - all;
    if (gaps_row_add(kev, &gaps->open, &row, error) != 0) {
        return -1;
    }
    gaps_account_events(gaps, told);
    return 0;
}

void kev_account_add(struct kev_account *account, const struct trace_slot *dropped)
{
    uint32_t reason = dropped->d1 >> 8;
    bool lost = reason == KYMO_DROP_OVERWRITTEN || reason == KYMO_DROP_UNWRITTEN;

    account->events += lost || reason == KYMO_DROP_RECYCLED ? dropped->d2 : 0;
    account->lost += lost ? dropped->d2 : 0;
}

void kev_gap_account(struct kev *kev, unsigned cpu, const struct kev_account *said)
{
    struct kev_gaps *gaps = &kev->index.gaps[cpu];

    gaps->outside += said->lost;
    if (gaps->open.count > 0) {
        gaps_account_events(gaps, said->events);
    } else {
        gaps->told += said->lost;
    }
}

/* The DROPPED slots at the head of a buffer; they are looked at only if a gap is open. */
int kev_gap_look(struct kev *kev, const struct kev_entry *entry, struct kev_error *error)
{
    struct trace_slot pair[2];

    for (uint32_t i = HEAD_SLOTS; i < entry->slots && kev->index.gaps[entry->cpu].open.count > 0;
         i++) {
        int have = kev_pair_read(kev, entry->offset + (uint64_t)i * TRACE_SLOT_BYTES, pair, error);

        if (have < 0) {
            return -1;
        }
        if (have < 1 || !kev_slot_is_tail(kev, &pair[0])) {
            break;
        }
        struct kev_account said = {0, 0};

        kev_account_add(&said, &pair[0]);
        gaps_account_events(&kev->index.gaps[entry->cpu], said.events);
    }
    return 0;
}

/* "buffer 5", "buffers 5 to 9", "2 of the buffers 5 to 9", and what is known of them. */
static void row_text(const struct kev_missing *row, char *text, size_t room)
{
    uint32_t numbers = row->last - row->first + 1;
    bool one = numbers == 1;
    char part[32] = "", names[48];

    if (row->buffers < numbers) {
        snprintf(part, sizeof(part), "%" PRIu32 " of the ", row->buffers);
    }
    if (row->last < row->first) { /* they are here, but elsewhere */
        snprintf(part, sizeof(part), "%" PRIu32 " of the ", row->buffers);
        snprintf(names, sizeof(names), "buffers before here");
    } else if (one) {
        snprintf(names, sizeof(names), "buffer %" PRIu32, row->first);
    } else {
        snprintf(names, sizeof(names), "buffers %" PRIu32 " to %" PRIu32, row->first, row->last);
    }
    snprintf(text, room, "%s%s of CPU %u %s missing, %s", part, names, row->cpu,
             one || row->buffers == 1 ? "is" : "are",
             row->written ? "but was in the capture when it was written"
             : one        ? "and no DROPPED accounts for it"
                          : "and no DROPPED accounts for them");
}

static void gaps_report(struct kev *kev)
{
    const struct kev_missing *first = &kev->index.missing[0];
    char more[80] = "", text[160];
    uint64_t buffers = 0;

    for (unsigned i = 0; i < kev->info.nmissing; i++) {
        buffers += kev->index.missing[i].buffers;
    }
    kev->damage.unaccounted = buffers;
    if (kev->options.recover) {
        kev_note(kev, first->offset,
                 first->written ? "buffers are missing that were in the capture"
                                : "buffers are missing that no DROPPED accounts for");
        return;
    }
    if (kev->info.nmissing > 1) {
        snprintf(more, sizeof(more), "; %" PRIu64 " buffers in %u places in all", buffers,
                 kev->info.nmissing);
    }
    row_text(first, text, sizeof(text));
    kev_fail(kev, &kev->late, first->offset, "%s%s", text, more);
    kev->late.given = true;
    kev->late.recoverable = false;
}

/* No buffer is known to be missing, but bytes are: DROPPED slots, or the last buffers of a CPU. */
static void bytes_report(struct kev *kev)
{
    char text[160];

    snprintf(text, sizeof(text),
             "%" PRIu64 " bytes are missing before here, but were in the capture when it was "
             "written",
             kev->info.missing_bytes);
    if (kev->late.text[0] == '\0' || kev->options.recover) {
        kev_late(kev, kev->index.gone_at, text);
    }
}

static void rows_merge(struct kev_missing **to, const struct kev_rows *rows)
{
    if (rows->count > 0) {
        memcpy(*to, rows->row, rows->count * sizeof(**to));
        *to += rows->count;
    }
}

static int row_compare(const void *a, const void *b)
{
    const struct kev_missing *x = a, *y = b;

    if (x->cpu != y->cpu) {
        return x->cpu < y->cpu ? -1 : 1;
    }
    if (x->first != y->first) {
        return x->first < y->first ? -1 : 1;
    }
    return (int)y->written - (int)x->written;
}

/* Numbers still open at the file's end are missing and lost. */
int kev_gap_finish(struct kev *kev, struct kev_error *error)
{
    struct kev_missing *to;
    size_t count = 0;

    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        count += kev->index.gaps[cpu].open.count + kev->index.gaps[cpu].gone.count;
    }
    if (count == 0 && kev->info.missing_bytes > 0) {
        bytes_report(kev);
    }
    if (count == 0 || kev->index.missing != NULL) {
        return 0;
    }
    kev->index.missing = to = calloc(count, sizeof(*to));
    if (to == NULL) {
        return kev_fail_memory(error, kev->file.path, "out of memory: too many gaps");
    }
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        rows_merge(&to, &kev->index.gaps[cpu].gone);
        rows_merge(&to, &kev->index.gaps[cpu].open);
    }
    qsort(kev->index.missing, count, sizeof(*to), row_compare);
    kev->info.nmissing = (unsigned)count;
    kev->info.missing = kev->index.missing;
    gaps_report(kev);
    return 0;
}

void kev_gap_free(struct kev *kev)
{
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        free(kev->index.gaps[cpu].open.row);
        free(kev->index.gaps[cpu].gone.row);
    }
    free(kev->index.missing);
}

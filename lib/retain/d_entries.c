/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries of D's aggregations in retained memory: see d.c. Each has a mark. An entry that was being
 * changed when the machine stopped is returned in its old state, from the words kept aside.
 */
#include <string.h>

#include "abi/retain_mark.h"
#include "lib/retain/d.h"

bool retain_d_entries(struct retain *retain)
{
    struct retain_d *d = &retain->d;
    const struct kymo_retain_d_cpu *cpu = &d->is.cpu[retain->cpu];
    uint64_t half = 0, used = 0;
    uint32_t word = retain->header.word_bits / 8;
    const struct kymo_retain_d_fields *at = &d->is.at;

    d->number = 0;
    if (cpu->entries == 0) {
        return false;
    }
    if (retain_chunk_read(retain, &d->data, cpu->cursors + at->entries, &half, word) != 0 ||
        retain_chunk_read(retain, &d->data, cpu->cursors + at->used, &used, word) != 0 ||
        retain_chunk_read(retain, &d->data, cpu->live, &d->live, sizeof(d->live)) != 0) {
        retain->losses.keys++;
        d->number = 1;
        return false;
    }
    half -= retain->header.base + cpu->entries;
    if ((half != 0 && half != d->is.entry_bytes) || used > d->is.entry_bytes) {
        retain->losses.keys++;
        d->number = 1;
        return false;
    }
    d->half = (uint32_t)half;
    d->at = 0;
    /* Data after it that was not yet complete. */
    d->until = used < d->live.entries_sealed ? (uint32_t)used : d->live.entries_sealed;
    d->damaged = false;
    return true;
}

static uint32_t retain_entry_size(struct retain *retain, uint32_t id)
{
    const struct kymo_retain_d *is = &retain->d.is;
    uint32_t size = 0;

    if (id == 0 || id > is->aggregations ||
        retain_chunk_read(retain, &retain->d.tables, is->tables + (is->records + id - 1) * 4, &size,
                          sizeof(size)) != 0) {
        return 0;
    }
    return size % 8 == 0 && size > RETAIN_D_ENTRY ? size : 0;
}

/* Returns whether the words kept aside fit an entry of this size: the caller then restores them. */
static bool can_undo(const struct kymo_retain_d_live *live, uint32_t size)
{
    return live->undo_count <= 4 && live->undo_first <= size / 8 &&
           live->undo_count <= size / 8 - live->undo_first;
}

/* Returns the checksum of an entry; with *undone that of its state before the change. */
static int sum_of(struct retain *retain, uint32_t place, uint32_t size, uint32_t *sum,
                  uint32_t *undone)
{
    const struct kymo_retain_d_live *live = &retain->d.live;
    uint32_t base = retain->d.is.cpu[retain->cpu].entries;
    bool undoes = can_undo(live, size);

    *sum = *undone = 0;
    for (uint32_t n = 0; n < size / 8; n++) {
        uint64_t word;
        if (retain_chunk_read(retain, &retain->d.data, base + place + n * 8, &word, 8) != 0) {
            return -1;
        }
        *sum += retain_mark_word(place, n, word);
        if (undoes && n - live->undo_first < live->undo_count) {
            word = live->undo[n - live->undo_first];
        }
        *undone += retain_mark_word(place, n, word);
    }
    return 0;
}

/* Returns whether the entry at d->at is complete, or was before an unfinished change. */
static bool retain_entry_is_complete(struct retain *retain, uint32_t size, bool *undo)
{
    struct retain_d *d = &retain->d;
    uint32_t place = d->half + d->at, mark, sum, undone;
    uint32_t at = d->is.cpu[retain->cpu].entry_marks + place / d->is.entry_least * 4;

    *undo = false;
    if (retain_chunk_read(retain, &d->marks, at, &mark, sizeof(mark)) != 0 ||
        sum_of(retain, place, size, &sum, &undone) != 0) {
        return false;
    }
    *undo = sum != mark && d->live.undo_at == place + 1 && undone == mark;
    retain->wasted += sum == mark || *undo ? 0 : size;
    return sum == mark || *undo;
}

uint32_t retain_d_entry(struct retain *retain, uint32_t *at, bool *undo)
{
    struct retain_d *d = &retain->d;
    uint32_t base = d->is.cpu[retain->cpu].entries + d->half, id;

    while (d->until - d->at >= RETAIN_D_ENTRY) {
        if (retain_chunk_read(retain, &d->data, base + d->at, &id, sizeof(id)) != 0) {
            return 0;
        }
        uint32_t size = retain_entry_size(retain, id);
        if (size && size <= d->until - d->at && retain_entry_is_complete(retain, size, undo)) {
            *at = base + d->at;
            d->at += size;
            d->damaged = false;
            return size;
        }
        if (!d->damaged) {
            retain->losses.keys++;
            d->number++;
        }
        d->damaged = true;
        d->at = retain_is_hopeless(retain) ? d->until : d->at + 8;
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Coverage: over which time all events of a CPU are in the capture. What a CPU did outside of it is
 * unknown, and an account that takes silence for idleness there is wrong.
 *
 * A span ends where events were lost, and the next one begins with the next buffer. Losses are
 * found by gaps in the sequence and by DROPPED slots; how far before such a slot the loss may lie
 * depends on its reason. A buffer with damage inside is not covered at all. The last span of a CPU
 * ends with the CPU's last event, or with the capture's if the capture is known to be whole.
 *
 * Reads three slots of each buffer, and whole buffers only beside a loss and at the end.
 * Context: before the first kev_next(). Proof: test/host/stat/known_test.c.
 */
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"
#include "abi/sys/trace.h"

/* An event that found no room may have been followed by smaller ones that did: only the last slots
 * of a buffer are so narrow that an event of the classes asked for may not have fitted. */
#define NARROW_SLOTS 12

struct walk {
    struct kev *kev;
    uint32_t classes;
    bool seams;
    struct kev_lane lane; /* to load buffers into */
    struct kev_span *spans;
    uint32_t count, room;
    bool open;
    uint64_t from;                  /* of the open span */
    bool failed;                    /* out of memory, or damage that kev_next() will report */
    const struct kev_entry *before; /* the last buffer, NULL: none */
    uint64_t before_last;           /* its last event's time; UINT64_MAX: not computed */
    uint32_t reasons;               /* for which events were lost since: bit per reason */
    bool broken;                    /* the last buffer is damaged */
};

static void span_close(struct walk *walk, uint64_t to)
{
    if (!walk->open) {
        return;
    }
    walk->open = false;
    if (to < walk->from) {
        return;
    }
    if (walk->count == walk->room) {
        uint32_t room = walk->room == 0 ? 16 : 2 * walk->room;
        struct kev_span *spans = realloc(walk->spans, room * sizeof(*spans));

        if (spans == NULL) {
            walk->failed = true;
            return;
        }
        walk->spans = spans;
        walk->room = room;
    }
    walk->spans[walk->count++] = (struct kev_span){walk->from, to};
}

/* Loads a whole buffer. False: it can't be read as it stands. */
static bool buffer_load(struct walk *walk, const struct kev_entry *entry)
{
    struct kev_damage damage = walk->kev->damage;
    struct kev_error error;
    bool sound;

    walk->lane = (struct kev_lane){.slots = walk->lane.slots,
                                   .times = walk->lane.times,
                                   .bad = walk->lane.bad,
                                   .room = walk->lane.room};
    sound = kev_buffer_load(walk->kev, &walk->lane, entry, &error) == 0;

    walk->kev->damage = damage; /* kev_next() counts it */
    walk->failed |= !sound && error.no_memory;
    for (uint32_t i = 0; sound && i < walk->lane.nslots; i++) {
        sound = !walk->lane.bad[i];
    }
    return sound;
}

/* The time of a loaded buffer's last slot before slot `end` that the kernel made. */
static uint64_t loaded_last(const struct kev_lane *lane, uint32_t end)
{
    uint32_t i = end < lane->nslots ? end : lane->nslots;

    while (i > 1 && kev_slot_is_injected(&lane->slots[i - 1])) {
        i--;
    }
    return i > 0 ? lane->times[i - 1] : 0;
}

static uint64_t buffer_last(struct walk *walk, const struct kev_entry *entry)
{
    return buffer_load(walk, entry) ? loaded_last(&walk->lane, entry->slots) : entry->time;
}

/* Returns the earliest time at which the loss that `reasons` names may have begun. */
static uint64_t loss_begin(struct walk *walk, uint32_t reasons)
{
    const struct kev_entry *before = walk->before;
    uint32_t anywhere = 1u << KYMO_DROP_RECURSIVE | 1u << KYMO_DROP_TOOBIG | 1u;
    uint32_t narrow = 1u << KYMO_DROP_NOBUFFER | 1u << KYMO_DROP_FILLED;

    if ((reasons & anywhere) != 0 || !buffer_load(walk, before)) {
        return before->time;
    }
    return loaded_last(&walk->lane, (reasons & narrow) != 0 ? walk->kev->buffer_slots - NARROW_SLOTS
                                                            : before->slots);
}

/* The reason of a DROPPED slot as a bit, 0 if the class doesn't matter. */
static uint32_t dropped_reason(const struct walk *walk, const struct trace_slot *slot)
{
    uint32_t reason = slot->d1 >> 8, class = slot->d1 & 0xff;

    if (!kev_slot_is_dropped(slot) || slot->d2 == 0 || reason == KYMO_DROP_RECYCLED) {
        return 0;
    }
    if (class < KEV_CLASSES && (walk->classes >> class & 1) == 0) {
        return 0;
    }
    return reason < KYMO_TRACE_REASONS ? 1u << reason : 1u;
}

/* The reasons in the DROPPED slots after TIME; whether nothing in the buffer is the kernel's. */
static uint32_t buffer_reasons(struct walk *walk, const struct kev_entry *entry, bool *injected)
{
    struct trace_slot head[3];
    struct kev_error error;
    uint32_t reasons = 0;
    long len = 0;

    *injected = false;
    if (entry->plain) {
        return 0;
    }
    if (entry->slots >= 3) {
        len = kev_file_read(&walk->kev->file, entry->offset, head, sizeof(head), &error);
    }
    if (len != (long)sizeof(head)) {
        return 0;
    }
    if (walk->kev->info.swapped) {
        kev_slot_swap(walk->kev, &head[2]);
    }
    *injected = kev_slot_is_injected(&head[2]);
    if (!kev_slot_is_dropped(&head[2]) || !buffer_load(walk, entry)) {
        return 0;
    }
    for (uint32_t i = 2; i < walk->lane.nslots; i++) {
        if (!kev_slot_is_dropped(&walk->lane.slots[i])) {
            break;
        }
        reasons |= dropped_reason(walk, &walk->lane.slots[i]);
    }
    return reasons;
}

static void tail_walk(struct walk *walk, const struct kev_entry *entry)
{
    if (buffer_load(walk, entry)) {
        walk->reasons |= dropped_reason(walk, &walk->lane.slots[0]);
    }
}

static void buffer_walk(struct walk *walk, const struct kev_entry *entry)
{
    const struct kev_entry *before = walk->before;
    bool injected, contiguous = before != NULL && entry->sequence == before->sequence + 1;
    uint32_t reasons = walk->reasons | buffer_reasons(walk, entry, &injected);

    if (injected) {
        return;
    }
    if (before == NULL) {
        bool start = entry->sequence == 1 && reasons == 0;

        walk->open = true;
        walk->from = start ? walk->kev->extent.from : entry->time;
    } else if (walk->broken || !contiguous || reasons != 0 || walk->seams) {
        if (walk->open) {
            span_close(walk, loss_begin(walk, reasons));
        }
        walk->open = true;
        walk->from = entry->time;
    }
    walk->reasons = 0;
    walk->before = entry;
    walk->broken = walk->kev->options.recover && !buffer_load(walk, entry);
    if (walk->broken) { /* not covered from the one before it on */
        span_close(walk, before == NULL ? walk->from : buffer_last(walk, before));
    }
}

/* The previous buffer was the CPU's last. */
static void walk_end(struct walk *walk)
{
    bool whole = kev_is_whole(walk->kev);

    whole &= !walk->seams;
    if (walk->before == NULL && walk->reasons == 0 && whole) {
        walk->open = true;
        walk->from = walk->kev->extent.from;
    }
    if (!walk->open) {
        return;
    }
    if (walk->reasons != 0 && walk->before != NULL) {
        span_close(walk, loss_begin(walk, walk->reasons));
    } else {
        span_close(walk, whole ? walk->kev->extent.to : buffer_last(walk, walk->before));
    }
}

/* A capture of retained memory ends where the machine died, whatever its CPUs did until then. The
 * end mark of a cut says nothing of the recording's end. */
bool kev_is_whole(const struct kev *kev)
{
    return kev->info.ended && kev->cut.text[0] == '\0' && kev->late.text[0] == '\0' &&
           kev->info.nmissing == 0 && kev->damage.first[0] == '\0' && !kev->head_damaged &&
           kev_attr(kev, "RETAINED") == NULL && kev_attr(kev, "CUT_OF") == NULL;
}

/* First and last event of the whole capture that a kernel made. */
static void extent_find(struct kev *kev, struct walk *walk)
{
    struct kev_span extent = {UINT64_MAX, 0};

    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        const struct kev_entry *last = NULL;
        uint32_t at = kev->lanes[cpu] == NULL ? KEV_NONE : kev->lanes[cpu]->first;

        for (; at != KEV_NONE; at = kev->index.entries[at].next) {
            const struct kev_entry *entry = &kev->index.entries[at];
            bool injected = false;

            if (entry->kind == KEV_BUFFER) {
                buffer_reasons(walk, entry, &injected);
            }
            if (entry->kind == KEV_BUFFER && !injected) {
                extent.from = entry->time < extent.from ? entry->time : extent.from;
                last = entry;
            }
        }
        if (last != NULL) {
            uint64_t to = buffer_last(walk, last);

            extent.to = to > extent.to ? to : extent.to;
        }
    }
    kev->extent = extent;
    kev->extent_known = true;
}

static void walk_free(struct walk *walk)
{
    free(walk->lane.slots);
    free(walk->lane.times);
    free(walk->lane.bad);
}

long kev_covered(struct kev *kev, unsigned cpu, const struct kev_cover *cover,
                 struct kev_span **spans)
{
    struct walk walk = {.kev = kev, .classes = cover->classes, .seams = cover->seams};
    const struct kev_lane *lane = cpu < KEV_CPUS ? kev->lanes[cpu] : NULL;

    *spans = NULL;
    if (!kev->info.kymo) {
        return -1;
    }
    if (!kev->extent_known) {
        extent_find(kev, &walk);
    }
    for (uint32_t at = lane == NULL ? KEV_NONE : lane->first; at != KEV_NONE;
         at = kev->index.entries[at].next) {
        const struct kev_entry *entry = &kev->index.entries[at];

        if (entry->kind == KEV_TAIL) {
            tail_walk(&walk, entry);
        } else {
            buffer_walk(&walk, entry);
        }
    }
    walk_end(&walk);
    walk_free(&walk);
    if (walk.failed) {
        kev->extent_known = false;
        free(walk.spans);
        return -1;
    }
    *spans = walk.spans;
    return (long)walk.count;
}

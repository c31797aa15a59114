/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joining the slots of combine events. The key is (cpu, class, event, time), so that interlaced
 * events of other kernels and equal times of two CPUs come apart. Bounded: KEV_OPEN_MAX events open
 * at once (the oldest gives way), KEV_WORDS_MAX words in one.
 */
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"
#include "abi/sys/trace.h"

static uint32_t reader_join_key_of(uint32_t header)
{
    return header & ~TRACE_STRUCT_MASK;
}

static struct kev_open *open_find(struct kev_join *join, const struct trace_slot *slot)
{
    if (join->nopen == 0) {
        return NULL;
    }
    for (unsigned i = 0; i < KEV_OPEN_MAX; i++) {
        struct kev_open *open = &join->open[i];

        if (open->used && open->time == slot->time &&
            open->header == reader_join_key_of(slot->header)) {
            return open;
        }
    }
    return NULL;
}

static void open_close(struct kev_join *join, struct kev_open *open)
{
    open->used = false;
    join->nopen--;
}

/* A free place, or the oldest's; *evicted tells. */
static struct kev_open *open_take(struct kev_join *join, bool *evicted)
{
    struct kev_open *best = NULL;

    for (unsigned i = 0; i < KEV_OPEN_MAX; i++) {
        struct kev_open *open = &join->open[i];

        if (!open->used) {
            best = open;
            break;
        }
        if (best == NULL || open->age < best->age) {
            best = open;
        }
    }
    *evicted = best->used;
    if (*evicted) {
        open_close(join, best);
    }
    if (best->words == NULL) {
        best->words = malloc(KEV_WORDS_MAX * sizeof(uint32_t));
    }
    return best->words == NULL ? NULL : best;
}

static void open_append(struct kev_open *open, const struct trace_slot *slot)
{
    open->words[open->nwords++] = slot->d1;
    open->words[open->nwords++] = slot->d2;
}

static enum kev_joined join_begin(struct kev_join *join, const struct trace_slot *slot,
                                  uint64_t time, uint64_t offset)
{
    struct kev_open *same = open_find(join, slot);
    bool broken = false;
    struct kev_open *open = same;

    if (open == NULL) {
        open = open_take(join, &broken);
        if (open == NULL) {
            return KEV_JOIN_BROKEN;
        }
        open->used = true;
        join->nopen++;
    }
    open->header = reader_join_key_of(slot->header);
    open->time = slot->time;
    open->full_time = time;
    open->offset = offset;
    open->nwords = 0;
    open->age = join->ages++;
    open_append(open, slot);
    return broken || same != NULL ? KEV_JOIN_BROKEN : KEV_JOIN_MORE;
}

static void event_fill(struct kev_event *event, uint32_t header, uint64_t time, uint64_t offset)
{
    event->time = time;
    event->offset = offset;
    event->number = (uint16_t)TRACE_GET_EVENT(header);
    event->class = (uint8_t)TRACE_GET_CLASS(header);
    event->cpu = (uint8_t)TRACE_GET_CPU(header);
    event->injected = (header & _NTO_TRACE_PROCESS_INJECTED) != 0;
    event->dumped = (header & TRACE_STATE_DUMP) != 0;
}

static enum kev_joined join_more(struct kev_join *join, const struct trace_slot *slot,
                                 struct kev_event *event)
{
    struct kev_open *open = open_find(join, slot);

    if (open == NULL) {
        return KEV_JOIN_BROKEN;
    }
    if (open->nwords + 2 > KEV_WORDS_MAX) {
        open_close(join, open);
        return KEV_JOIN_BROKEN;
    }
    open_append(open, slot);
    if (TRACE_GET_STRUCT(slot->header) != TRACE_STRUCT_CE) {
        return KEV_JOIN_MORE;
    }
    event_fill(event, slot->header, open->full_time, open->offset);
    event->words = open->words;
    event->nwords = open->nwords;
    event->combined = true;
    open_close(join, open);
    return KEV_JOIN_EVENT;
}

enum kev_joined kev_join_slot(struct kev_join *join, const struct trace_slot *slot, uint64_t time,
                              uint64_t offset, struct kev_event *event)
{
    switch (TRACE_GET_STRUCT(slot->header)) {
    case TRACE_STRUCT_S:
        event_fill(event, slot->header, time, offset);
        event->words = &slot->d1;
        event->nwords = 2;
        event->combined = false;
        return KEV_JOIN_EVENT;
    case TRACE_STRUCT_CB:
        return join_begin(join, slot, time, offset);
    default:
        return join_more(join, slot, event);
    }
}

uint32_t *kev_join_words(struct kev_join *join)
{
    struct kev_open *open = &join->open[0];

    if (open->words == NULL) {
        open->words = malloc(KEV_WORDS_MAX * sizeof(uint32_t));
    }
    return open->words;
}

unsigned kev_join_drop(struct kev_join *join)
{
    unsigned dropped = join->nopen;

    for (unsigned i = 0; i < KEV_OPEN_MAX && join->nopen > 0; i++) {
        if (join->open[i].used) {
            open_close(join, &join->open[i]);
        }
    }
    return dropped;
}

void kev_join_free(struct kev_join *join)
{
    for (unsigned i = 0; i < KEV_OPEN_MAX; i++) {
        free(join->open[i].words);
    }
}

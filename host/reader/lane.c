/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lane: its buffers one after the other, its slots joined to events. A Kymo capture's combine
 * events are whole and unmixed inside a buffer: anything else is damage.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/sys/trace.h"
#include "host/reader/reader.h"

struct kev_lane *kev_lane_get(struct kev *kev, unsigned lane)
{
    if (lane >= KEV_CPUS) {
        return NULL;
    }
    if (kev->lanes[lane] == NULL) {
        struct kev_lane *made = calloc(1, sizeof(*made));

        if (made != NULL) {
            made->first = KEV_NONE;
            made->last = KEV_NONE;
            made->current = KEV_NONE;
            memset(made->msb, 0xff, sizeof(made->msb));
        }
        kev->lanes[lane] = made;
    }
    return kev->lanes[lane];
}

void kev_lane_rewind(struct kev_lane *lane)
{
    lane->current = KEV_NONE;
    lane->nslots = lane->at = 0;
    lane->clean = false;
    lane->ready = lane->skipped = false;
    lane->last_time = 0;
    lane->event_known = false;
    memset(lane->msb, 0xff, sizeof(lane->msb));
    memset(lane->low, 0, sizeof(lane->low));
    lane->event_known = false;
    lane->stamped = 0;
    kev_join_drop(&lane->join);
}

void kev_lane_free(struct kev_lane *lane)
{
    if (lane == NULL) {
        return;
    }
    free(lane->slots);
    free(lane->times);
    free(lane->bad);
    kev_join_free(&lane->join);
    free(lane);
}

static int event_broken(struct kev *kev, uint64_t offset, unsigned events, struct kev_error *error)
{
    if (kev->info.kymo && !kev->options.recover) {
        return kev_fail(kev, error, offset, "an incomplete combine event");
    }
    if (kev->info.kymo) {
        kev_note(kev, offset, "an incomplete combine event");
    }
    kev->damage.events += events;
    return 0;
}

/* The next buffer of the lane. 1: loaded, 0: no more for now, -1. */
static int lane_load(struct kev *kev, struct kev_lane *lane, struct kev_error *error)
{
    struct kev_index *index = &kev->index;
    uint32_t next = lane->current == KEV_NONE ? lane->first : index->entries[lane->current].next;
    const struct kev_entry *entry;
    unsigned open = lane->join.nopen;

    if (kev->info.kymo && open > 0) {
        kev_join_drop(&lane->join);
        if (next == KEV_NONE && kev->cut.text[0] != '\0') {
            return 0;
        }
        entry = &index->entries[lane->current];
        if (event_broken(kev, entry->offset + (uint64_t)entry->slots * TRACE_SLOT_BYTES, open,
                         error) != 0) {
            return -1;
        }
    }
    if (next == KEV_NONE) {
        if (!kev->info.kymo && !kev->options.follow) {
            kev->damage.events += kev_join_drop(&lane->join);
        }
        return 0;
    }
    lane->current = next;
    if (kev_buffer_load(kev, lane, &index->entries[next], error) != 0) {
        return -1;
    }
    lane->clean &= kev_join_words(&lane->join) != NULL;
    return 1;
}

/* Joins a slot. Like kev_join_slot, but broken events are accounted for. */
static enum kev_result lane_slot(struct kev *kev, struct kev_lane *lane, uint32_t i,
                                 struct kev_error *error)
{
    const struct trace_slot *slot = &lane->slots[i];
    uint64_t offset = kev->index.entries[lane->current].offset + (uint64_t)i * TRACE_SLOT_BYTES;
    unsigned structure = TRACE_GET_STRUCT(slot->header);
    unsigned broken = 0;
    enum kev_joined joined;

    if (kev->info.kymo && lane->join.nopen > 0 &&
        (structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CB)) {
        broken += kev_join_drop(&lane->join);
    }
    joined = kev_join_slot(&lane->join, slot, lane->times[i], offset, &lane->head);
    broken += joined == KEV_JOIN_BROKEN;
    lane->head.dumped &= kev->info.dumps_marked;
    lane->skipped |= broken > 0;
    if (broken > 0 && event_broken(kev, offset, broken, error) != 0) {
        return KEV_ERROR;
    }
    return joined == KEV_JOIN_EVENT ? KEV_EVENT : KEV_END;
}

void kev_lane_take(const struct kev *kev, struct kev_lane *lane, struct kev_event *event)
{
    uint32_t i = lane->at;
    const struct trace_slot *slot = &lane->slots[i];
    uint32_t header = slot->header;

    event->time = lane->last_time = lane->times[i];
    event->offset = lane->offset + (uint64_t)i * TRACE_SLOT_BYTES;
    event->number = (uint16_t)TRACE_GET_EVENT(header);
    event->class = (uint8_t)TRACE_GET_CLASS(header);
    event->cpu = (uint8_t)TRACE_GET_CPU(header);
    event->injected = (header & _NTO_TRACE_PROCESS_INJECTED) != 0;
    event->dumped = kev->info.dumps_marked && (header & TRACE_STATE_DUMP) != 0;
    event->swapped = kev->info.swapped && event->class != TRACE_CLASS_CONTROL;
    event->gap = lane->skipped;
    event->log_text = false;
    event->code_high = kev->code_high;
    lane->skipped = false;
    event->combined = TRACE_GET_STRUCT(header) != TRACE_STRUCT_S;
    event->words = &slot->d1;
    event->nwords = 2;
    lane->at = i + 1;
    if (event->combined) {
        uint32_t *words = lane->join.open[0].words, n = 0;

        do {
            memcpy(&words[n], &slot->d1, 2 * sizeof(*words));
            n += 2;
        } while (TRACE_GET_STRUCT(slot++->header) != TRACE_STRUCT_CE);
        event->words = words;
        event->nwords = n;
        lane->at = i + n / 2;
    }
}

/* Makes lane->head the lane's next event. */
enum kev_result kev_lane_advance(struct kev *kev, struct kev_lane *lane, struct kev_error *error)
{
    lane->ready = false;
    for (;;) {
        if (lane->clean && lane->at < lane->nslots) {
            kev_lane_take(kev, lane, &lane->head);
            lane->ready = true;
            return KEV_EVENT;
        }
        while (lane->at < lane->nslots) {
            uint32_t i = lane->at++;
            enum kev_result result;

            if (lane->bad[i]) {
                lane->skipped = true;
                continue;
            }
            result = lane_slot(kev, lane, i, error);
            if (result == KEV_ERROR) {
                return result;
            }
            if (result == KEV_EVENT) {
                lane->last_time = lane->head.time;
                lane->head.swapped = kev->info.swapped && lane->head.class != TRACE_CLASS_CONTROL;
                lane->head.gap = lane->skipped;
                lane->head.code_high = kev->code_high;
                lane->skipped = false;
                lane->ready = true;
                return KEV_EVENT;
            }
        }
        int loaded = lane_load(kev, lane, error);

        if (loaded <= 0) {
            return loaded < 0 ? KEV_ERROR : KEV_END;
        }
    }
}

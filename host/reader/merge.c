/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The merge: a heap of lanes, the one with the earliest event first (of equal times the lower CPU).
 * Each lane holds one buffer, so memory does not grow with the capture. What it gives of log events
 * is their text, if the program has set kev_log_text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/log.h"
#include "host/reader/reader.h"

static bool lane_before(const struct kev *kev, uint8_t a, uint8_t b)
{
    uint64_t ta = kev->lanes[a]->head.time, tb = kev->lanes[b]->head.time;

    return ta != tb ? ta < tb : a < b;
}

static void heap_swap(struct kev *kev, unsigned i, unsigned j)
{
    uint8_t lane = kev->heap[i];

    kev->heap[i] = kev->heap[j];
    kev->heap[j] = lane;
}

static void heap_up(struct kev *kev, unsigned i)
{
    while (i > 0 && lane_before(kev, kev->heap[i], kev->heap[(i - 1) / 2])) {
        heap_swap(kev, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static void heap_down(struct kev *kev, unsigned i)
{
    for (;;) {
        unsigned least = i;

        for (unsigned child = 2 * i + 1; child <= 2 * i + 2 && child < kev->nheap; child++) {
            if (lane_before(kev, kev->heap[child], kev->heap[least])) {
                least = child;
            }
        }
        if (least == i) {
            return;
        }
        heap_swap(kev, i, least);
        i = least;
    }
}

static bool lane_wanted(const struct kev *kev, unsigned lane)
{
    return !kev->per_cpu || kev->options.cpus == 0 || (kev->options.cpus >> lane & 1) != 0;
}

/* Lanes that exist and are wanted, but have nothing for now. */
static bool lanes_waiting(const struct kev *kev)
{
    for (unsigned i = 0; i < kev->info.ncpu && i < KEV_CPUS; i++) {
        if (lane_wanted(kev, i) && (kev->lanes[i] == NULL || !kev->lanes[i]->ready)) {
            return kev->per_cpu;
        }
    }
    return false;
}

/* Brings lanes that have something new into the heap. */
static int heap_fill(struct kev *kev, struct kev_error *error)
{
    kev->refill = false;
    for (unsigned i = 0; i < KEV_CPUS; i++) {
        struct kev_lane *lane = kev->lanes[i];
        enum kev_result result;

        if (lane == NULL || lane->ready || !lane_wanted(kev, i)) {
            continue;
        }
        result = kev_lane_advance(kev, lane, error);
        if (result == KEV_ERROR) {
            return -1;
        }
        if (result == KEV_EVENT) {
            kev->heap[kev->nheap] = (uint8_t)i;
            heap_up(kev, kev->nheap++);
        }
    }
    return 0;
}

/* The first lane's head was given out: its next one. */
static int heap_pop(struct kev *kev, struct kev_error *error)
{
    enum kev_result result;

    kev->popped = false;
    result = kev_lane_advance(kev, kev->lanes[kev->heap[0]], error);
    if (result == KEV_ERROR) {
        return -1;
    }
    if (result == KEV_END) {
        kev->heap[0] = kev->heap[--kev->nheap];
    }
    heap_down(kev, 0);
    return 0;
}

static enum kev_result merge_fail(struct kev *kev, const struct kev_error *error)
{
    kev->ended_by = *error;
    return KEV_ERROR;
}

/* No event: the end, or once the news that the file was cut short here, that it lacks buffers, and
 * that another capture follows. */
static enum kev_result kev_ended(struct kev *kev, struct kev_error *error)
{
    const struct kev_error *all[] = {&kev->cut, &kev->late, &kev->another};
    bool any = false;

    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]) && !kev->cut_given; i++) {
        if (all[i]->text[0] != '\0' && !any) {
            *error = *all[i];
            any = true;
        } else if (all[i]->text[0] != '\0') {
            size_t used = strlen(error->text), path = strnlen(kev->file.path, KEV_PATH_SHOWN);

            snprintf(error->text + used, sizeof(error->text) - used, "; and %s",
                     all[i]->text + path + 2);
        }
    }
    kev->cut_given |= any;
    return any ? merge_fail(kev, error) : KEV_END;
}

void kev_rewind(struct kev *kev)
{
    for (unsigned i = 0; i < KEV_CPUS; i++) {
        if (kev->lanes[i] != NULL) {
            kev_lane_rewind(kev->lanes[i]);
        }
    }
    kev->nheap = 0;
    kev->popped = false;
    kev->run = NULL;
    kev->refill = true;
    kev->cut_given = false;
    kev->ended_by.text[0] = '\0';
    kev->damage = kev->damage_opened;
    kev->info.equal_stamps = 0;
}

kev_log_text_fn *kev_log_text;

bool kev_event_is_log(const struct kev_event *event)
{
    return event->class == TRACE_CLASS_USER && event->nwords >= 2 &&
           kev_word(event, 0) - KYMO_LOG_BASE < KYMO_LOG_BYTES;
}

static void log_apply(struct kev *kev, struct kev_event *event)
{
    kev_log_text_fn *make = kev->options.log_text ? kev->options.log_text : kev_log_text;
    char *text;
    size_t length;

    if (kev->log_words == NULL) {
        kev->log_words = malloc(KEV_LOG_TEXT + sizeof(uint32_t));
    }
    text = (char *)kev->log_words;
    if (text == NULL || !make(kev->options.log_arg, kev, event, text, KEV_LOG_TEXT)) {
        return;
    }
    length = strlen(text) + 1;
    event->nwords = (uint32_t)((length + 7) / 8 * 2);
    memset(text + length, 0, 4 * (size_t)event->nwords - length);
    event->words = kev->log_words;
    event->swapped = false;
    event->combined = event->log_text = true;
}

/* The first lane's head is given out. From a clean lane the events up to the next lane's head
 * follow without a look at the others. */
static void run_begin(struct kev *kev)
{
    unsigned first = kev->heap[0];

    if (!kev->lanes[first]->clean || kev->refill || kev->released != KEV_HOLD_NONE) {
        return;
    }
    kev->run = kev->lanes[first];
    kev->run_until = UINT64_MAX;
    for (unsigned i = 1; i <= 2 && i < kev->nheap; i++) {
        uint64_t time = kev->lanes[kev->heap[i]]->head.time;
        uint64_t until = time + (first < kev->heap[i] && time < UINT64_MAX);

        kev->run_until = until < kev->run_until ? until : kev->run_until;
    }
}

enum kev_result kev_next(struct kev *kev, struct kev_event *event, struct kev_error *error)
{
    struct kev_lane *run = kev->run;

    if (run != NULL && run->at < run->nslots && run->times[run->at] < kev->run_until) {
        kev_lane_take(kev, run, event);
    } else {
        do {
            kev->run = NULL;
            if ((kev->popped && heap_pop(kev, error) != 0) ||
                (kev->refill && heap_fill(kev, error) != 0)) {
                return merge_fail(kev, error);
            }
            if (kev->nheap == 0 ||
                (kev->lanes[kev->heap[0]]->head.offset >= kev->released && lanes_waiting(kev))) {
                return kev_ended(kev, error);
            }
            *event = kev->lanes[kev->heap[0]]->head;
            kev->popped = true;
            run_begin(kev);
        } while (kev->options.cpus != 0 && (kev->options.cpus >> event->cpu & 1) == 0);
    }
    if (event->class == TRACE_CLASS_USER &&
        (kev_log_text != NULL || kev->options.log_text != NULL) && !kev->options.numbers &&
        kev_event_is_log(event)) {
        log_apply(kev, event);
    }
    return KEV_EVENT;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which entries of a timeline a window shows: those that touch it, so also a thread's state, a
 * kernel call or a function that began long before. Arrays of spans are by their beginnings; how
 * far each 4096 entries of one reach is noted once, so that spans that began earlier are found
 * without going through all of it. One thread. Proof: test/host/view/check.py, which compares
 * windows with the page of the whole.
 */
#include <stdlib.h>
#include <string.h>

#include "host/report/report.h"

#define REACH_ENTRIES 4096

/* The events with which calls, functions, interrupts and handlers begin. */
struct times {
    int64_t from, to;
};

struct array {
    const void *entries;
    size_t bytes; /* of an entry */
    uint32_t count;
    int64_t *reach; /* the latest end of each REACH_ENTRIES of them */
};

enum { CALLS, FUNCTIONS, INTERRUPTS, HANDLERS, ARRAYS };

struct report_reach {
    struct array arrays[ARRAYS];
};

struct report_window window_whole(const struct timeline *timeline)
{
    return (struct report_window){.is_whole = true,
                                  .from = INT64_MIN,
                                  .to = INT64_MAX,
                                  .spans.count = timeline->nspans,
                                  .messages.count = timeline->nmessages,
                                  .calls.count = timeline->ncalls,
                                  .functions.count = timeline->nfunctions,
                                  .interrupts.count = timeline->ninterrupts,
                                  .handlers.count = timeline->nhandlers};
}

static struct times times_at(const struct array *array, uint32_t i)
{
    struct times times;

    memcpy(&times, (const char *)array->entries + i * array->bytes, sizeof(times));
    return times;
}

static bool array_reach(struct array *array, const struct timeline *timeline)
{
    uint32_t n = array->count / REACH_ENTRIES + 1;

    array->reach = malloc(n * sizeof(*array->reach));
    for (uint32_t i = 0; array->reach != NULL && i < n; i++) {
        array->reach[i] = INT64_MIN;
    }
    for (uint32_t i = 0; array->reach != NULL && i < array->count; i++) {
        int64_t *reach = &array->reach[i / REACH_ENTRIES], to = times_at(array, i).to;

        *reach = to > *reach ? to : *reach;
        if (i % (64 * REACH_ENTRIES) == 0) {
            timeline_rest(timeline);
        }
    }
    return array->reach != NULL;
}

struct report_reach *reach_new(const struct timeline *timeline)
{
    struct report_reach *reach = calloc(1, sizeof(*reach));
    bool good = reach != NULL;

    if (good) {
        reach->arrays[CALLS] =
            (struct array){timeline->calls, sizeof(*timeline->calls), timeline->ncalls, NULL};
        reach->arrays[FUNCTIONS] = (struct array){timeline->functions, sizeof(*timeline->functions),
                                                  timeline->nfunctions, NULL};
        reach->arrays[INTERRUPTS] = (struct array){
            timeline->interrupts, sizeof(*timeline->interrupts), timeline->ninterrupts, NULL};
        reach->arrays[HANDLERS] = (struct array){timeline->handlers, sizeof(*timeline->handlers),
                                                 timeline->nhandlers, NULL};
    }
    for (unsigned i = 0; good && i < ARRAYS; i++) {
        good = array_reach(&reach->arrays[i], timeline);
    }
    if (!good) {
        reach_free(reach);
        return NULL;
    }
    return reach;
}

void reach_free(struct report_reach *reach)
{
    for (unsigned i = 0; reach != NULL && i < ARRAYS; i++) {
        free(reach->arrays[i].reach);
    }
    free(reach);
}

/* ---- a window ---------------------------------------------------------------------- */

static bool list_put(struct report_list *list, uint32_t *room, uint32_t index)
{
    if (list->count == *room) {
        uint32_t more = 2 * *room + 1024;
        uint32_t *grown = realloc(list->index, more * sizeof(*grown));

        if (grown == NULL) {
            return false;
        }
        list->index = grown;
        *room = more;
    }
    list->index[list->count++] = index;
    return true;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* An empty list has an index, too: none of it means all. */
static bool list_end(struct report_list *list, uint32_t *room)
{
    if (list->index == NULL) {
        list->index = malloc(sizeof(*list->index));
        *room = 1;
    }
    if (list->index != NULL) {
        qsort(list->index, list->count, sizeof(*list->index), by_number);
    }
    return list->index != NULL;
}

/* The first entry of an array by time that does not begin before `ns`. */
static uint32_t report_window_first_from(const struct array *array, int64_t ns)
{
    uint32_t low = 0, high = array->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (times_at(array, middle).from < ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool array_find(const struct array *array, struct report_list *list,
                       const struct report_window *window)
{
    uint32_t first = report_window_first_from(array, window->from), room = 0;
    bool good = true;

    for (uint32_t at = 0; good && at < first; at += REACH_ENTRIES) {
        uint32_t end = first - at < REACH_ENTRIES ? first : at + REACH_ENTRIES;

        for (uint32_t i = at; good && array->reach[at / REACH_ENTRIES] >= window->from && i < end;
             i++) {
            good = times_at(array, i).to < window->from || list_put(list, &room, i);
        }
    }
    for (uint32_t i = first; good && i < array->count && times_at(array, i).from <= window->to;
         i++) {
        good = list_put(list, &room, i);
    }
    return good && list_end(list, &room);
}

/* The states of a thread that touch the window, and the message that it waits for when the window
 * begins. */
static bool report_window_thread_find(struct report_window *window, const struct timeline *timeline,
                                      uint32_t thread, uint32_t *spans_room,
                                      uint32_t *messages_room)
{
    const struct timeline_thread *of = &timeline->threads[thread];
    bool good = true;

    for (uint32_t at = timeline_span_find(timeline, thread, window->from); good && at < of->count;
         at++) {
        const struct timeline_span *span = timeline_span(timeline, thread, at);
        bool waits = span->state == STATE_SEND || span->state == STATE_REPLY;

        if (span->from > window->to) {
            break;
        }
        good = list_put(&window->spans, spans_room, timeline->by_thread[of->first + at]);
        if (good && waits && span->other < timeline->nmessages &&
            timeline->messages[span->other].sent < window->from) {
            good = list_put(&window->messages, messages_room, span->other);
        }
    }
    return good;
}

bool window_find(struct report_window *window, const struct timeline *timeline,
                 const struct report_reach *reach, int64_t from, int64_t to)
{
    const struct array messages = {timeline->messages, sizeof(*timeline->messages),
                                   timeline->nmessages, NULL};
    uint32_t spans_room = 0, messages_room = 0;
    bool good = true;

    *window = (struct report_window){.from = from, .to = to};
    for (uint32_t i = 0; good && i < timeline->nthreads; i++) {
        good = report_window_thread_find(window, timeline, i, &spans_room, &messages_room);
    }
    for (uint32_t i = report_window_first_from(&messages, from);
         good && i < timeline->nmessages && timeline->messages[i].sent <= to; i++) {
        good = list_put(&window->messages, &messages_room, i);
    }
    return good && list_end(&window->spans, &spans_room) &&
           list_end(&window->messages, &messages_room) &&
           array_find(&reach->arrays[CALLS], &window->calls, window) &&
           array_find(&reach->arrays[FUNCTIONS], &window->functions, window) &&
           array_find(&reach->arrays[INTERRUPTS], &window->interrupts, window) &&
           array_find(&reach->arrays[HANDLERS], &window->handlers, window);
}

void window_free(struct report_window *window)
{
    free(window->spans.index);
    free(window->messages.index);
    free(window->calls.index);
    free(window->functions.index);
    free(window->interrupts.index);
    free(window->handlers.index);
    *window = (struct report_window){0};
}

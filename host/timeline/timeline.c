/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a capture into a timeline, and finding things in it. Proof:
 * test/host/timeline/timeline_test.c.
 */
#include "host/timeline/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kymo.h"
#include "host/timeline/make.h"
#include "host/verify/verify.h"
#include "trace/slot.h"

#define REST_EVENTS 262144
#define MOST (UINT32_MAX - 1)

/* ---- making ------------------------------------------------------------------------ */

static void *make_fails(struct make *make, const char *what)
{
    if (!make->failed) {
        const struct kev_facts *facts = kev_capture_facts(make->timeline->capture);

        snprintf(make->timeline->fault, sizeof(make->timeline->fault),
                 "%.300s: %s; kymo cut takes a part of it (--from, --to)",
                 facts == NULL ? "capture" : facts->path, what);
        make->timeline->outcome = KEV_FAILED;
    }
    make->failed = true;
    return NULL;
}

/* `array` is the address of a pointer to entries. */
void *make_more(struct make *make, void *array, uint32_t *count, uint32_t *room, size_t bytes)
{
    void **entries = array;

    if (make->failed) {
        return NULL;
    }
    if (*count == MOST) {
        return make_fails(make, "it has more than 4 G entries of one kind");
    }
    if (*count >= *room) {
        /* Half as much again: no more than that is ever unused. */
        uint64_t more = *count < 1024 ? 2 * (uint64_t)*count + 16 : *count + *count / 2;
        void *grown;

        more = more < MOST ? more : MOST;
        grown = store_grow(make->timeline, *entries, *count * bytes, more * bytes);
        if (grown == NULL) {
            return make_fails(make, errno == ENOMEM ? "out of memory"
                                    : errno == EMFILE
                                        ? "too many open files; ulimit -n allows more"
                                        : "no room for its timeline in the folder for "
                                          "temporary files; TMPDIR names another one");
        }
        *entries = grown;
        *room = (uint32_t)more;
    }
    return (char *)*entries + (size_t)(*count)++ * bytes;
}

static int thread_id_order(const void *a, const void *b)
{
    const struct timeline_thread *x = *(struct timeline_thread *const *)a,
                                 *y = *(struct timeline_thread *const *)b;

    if (x->pid != y->pid) {
        return x->pid < y->pid ? -1 : 1;
    }
    return x->tid != y->tid ? (x->tid < y->tid ? -1 : 1) : (x > y) - (x < y);
}

/* Numbers the threads that have had the same pid and tid one after the other. */
static bool lives_number(struct timeline *timeline)
{
    struct timeline_thread **all = malloc((timeline->nthreads + 1) * sizeof(*all));

    if (all == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < timeline->nthreads; i++) {
        all[i] = &timeline->threads[i];
    }
    if (timeline->nthreads > 0) {
        qsort(all, timeline->nthreads, sizeof(struct timeline_thread *), thread_id_order);
    }
    for (uint32_t i = 0; i < timeline->nthreads; i++) {
        bool again = i > 0 && all[i - 1]->pid == all[i]->pid && all[i - 1]->tid == all[i]->tid;

        all[i]->life = again ? all[i - 1]->life + 1 : 1;
    }
    free(all);
    return true;
}

static bool threads_make(struct make *make)
{
    struct timeline *timeline = make->timeline;
    struct kev_capture *capture = timeline->capture;
    const struct kev_life *life;
    uint32_t n = 0;

    make->lives = kev_capture_life(capture, 0);
    while (kev_capture_life(capture, make->nlives) != NULL) {
        make->nlives++;
    }
    make->thread_of_life = malloc((make->nlives + 1) * sizeof(*make->thread_of_life));
    timeline->threads = calloc(make->nlives + 1, sizeof(*timeline->threads));
    make->ended = calloc(make->nlives + 1, sizeof(*make->ended));
    if (make->thread_of_life == NULL || timeline->threads == NULL || make->ended == NULL ||
        make_more(make, &make->thread_of_serial, &make->nserials, &make->serials_room,
                  sizeof(*make->thread_of_serial)) == NULL) {
        return false;
    }
    make->thread_of_serial[0] = TIMELINE_NONE;
    for (uint32_t i = 0; i < make->nlives; i++) {
        const struct kev_life *process;

        life = kev_capture_life(capture, i);
        make->thread_of_life[i] = TIMELINE_NONE;
        if (life->tid == KEV_NOBODY) {
            continue;
        }
        process = kev_capture_life_at(capture, life->pid, KEV_NOBODY, life->from_ns);
        if (process == NULL) { /* another CPU's dump of the state reported it later */
            process = kev_capture_life_at(capture, life->pid, KEV_NOBODY, life->to_ns);
        }
        make->thread_of_life[i] = n;
        make->ended[n] = life->from_ns;
        timeline->threads[n++] = (struct timeline_thread){
            .name = life->name,
            .process = process == NULL ? NULL : process->name,
            .from = life->from_ns,
            .to = life->to_ns,
            .pid = life->pid,
            .tid = life->tid,
            .idle = flow_is_idle(kev_capture_facts(capture), life->pid, life->tid)};
    }
    timeline->nthreads = n;
    return lives_number(timeline);
}

static void timeline_item_take(struct make *make, const struct kev_item *item)
{
    struct timeline *timeline = make->timeline;
    struct flow_step step;

    if (item->kind != KEV_ITEM_EVENT || item->cpu < 0 || item->cpu >= TIMELINE_CPUS) {
        return;
    }
    if ((item->flags & KEV_FLAG_INJECTED) == 0) { /* its stamp is not a kernel's */
        timeline->from = make->begun ? timeline->from : item->ns;
        timeline->to = make->begun && item->ns < timeline->to ? timeline->to : item->ns;
        make->begun = true;
    }
    if (flow_take(make->flow, item, &step) != 0) {
        make_fails(make, "out of memory");
        return;
    }
    if ((item->flags & KEV_FLAG_INJECTED) == 0) {
        others_event(make, item, &step);
    }
}

static void items_read(struct make *make, timeline_progress *progress, void *arg)
{
    struct timeline *timeline = make->timeline;
    uint64_t total = kev_capture_facts(timeline->capture)->bytes, n = 0;
    const struct kev_item *item;
    int outcome = KEV_GIVEN;

    while (!make->failed && (outcome = kev_capture_next(timeline->capture, &item)) == KEV_GIVEN) {
        if (make->item != NULL && !make->item(make->item_arg, item)) {
            make->failed = true;
            timeline->outcome = KEV_FAILED;
            break;
        }
        timeline_item_take(make, item);
        if (n % REST_EVENTS == 0) {
            timeline_rest(timeline);
        }
        if (++n % KEV_PROGRESS_EVENTS == 0 && progress != NULL) {
            progress(arg, item->offset, total);
        }
    }
    if (make->failed) {
        return;
    }
    timeline->outcome = outcome;
    if (outcome != KEV_COMPLETE) {
        verify_fault_text(kev_capture_fault(timeline->capture), VERIFY_RECOVER, timeline->fault,
                          sizeof(timeline->fault));
    }
    flow_end(make->flow);
    spans_end(make);
    timeline->doubt = flow_doubt(make->flow);
    if (timeline->ncovered > 0 && timeline->covered[timeline->ncovered - 1].to > timeline->to) {
        timeline->covered[timeline->ncovered - 1].to = timeline->to;
    }
}

/* Spans by thread, and runs by CPU; within each they are by time already. */
static bool indexes_make(struct timeline *timeline)
{
    uint32_t at = 0, *next, runs[TIMELINE_CPUS + 1] = {0};

    for (uint32_t i = 0; i < timeline->nthreads; i++) {
        timeline->threads[i].first = at;
        at += timeline->threads[i].count;
        timeline->threads[i].count = 0;
    }
    for (uint32_t i = 0; i < timeline->nspans; i++) {
        runs[timeline->spans[i].cpu + 1]++; /* 0: of none */
        if (i % REST_EVENTS == 0) {
            timeline_rest(timeline);
        }
    }
    at = 0;
    for (unsigned cpu = 0; cpu < TIMELINE_CPUS; cpu++) {
        timeline->cpu_first[cpu] = at;
        at += runs[cpu + 1];
        runs[cpu + 1] = timeline->cpu_first[cpu];
    }
    timeline->cpu_first[TIMELINE_CPUS] = at;
    timeline->by_thread =
        store_grow(timeline, NULL, 0, ((size_t)timeline->nspans + 1) * sizeof(*next));
    timeline->by_cpu = store_grow(timeline, NULL, 0, ((size_t)at + 1) * sizeof(*next));
    if (timeline->by_thread == NULL || timeline->by_cpu == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < timeline->nspans; i++) {
        const struct timeline_span *span = &timeline->spans[i];
        struct timeline_thread *thread = &timeline->threads[span->thread];

        timeline->by_thread[thread->first + thread->count++] = i;
        if (span->cpu >= 0) {
            timeline->by_cpu[runs[span->cpu + 1]++] = i;
        }
        if (i % REST_EVENTS == 0) {
            timeline_rest(timeline);
        }
    }
    return true;
}

struct timeline *timeline_new(struct kev_capture *capture, timeline_progress *progress, void *arg)
{
    return timeline_new_with(capture, progress, arg, NULL, NULL);
}

struct timeline *timeline_new_with(struct kev_capture *capture, timeline_progress *progress,
                                   void *arg, timeline_item *item, void *item_arg)
{
    struct timeline *timeline = calloc(1, sizeof(*timeline));
    struct make *make = calloc(1, sizeof(*make));
    const struct kev_facts *facts = kev_capture_facts(capture);

    if (timeline == NULL || make == NULL || facts == NULL) {
        free(timeline);
        free(make);
        return NULL;
    }
    timeline->capture = capture;
    timeline->cpus = facts->cpus < TIMELINE_CPUS ? facts->cpus : TIMELINE_CPUS;
    make->timeline = timeline;
    make->item = item;
    make->item_arg = item_arg;
    if (item == NULL && kev_capture_learn(capture) == KEV_FAILED) {
        verify_fault_text(kev_capture_fault(capture), VERIFY_RECOVER, timeline->fault,
                          sizeof(timeline->fault));
        timeline->outcome = KEV_FAILED;
    } else if ((make->flow = flow_new(capture, false, &spans_ops, make)) == NULL ||
               !threads_make(make)) {
        make_fails(make, "out of memory");
    } else {
        items_read(make, progress, arg);
    }
    if (!indexes_make(timeline)) {
        make_fails(make, "out of memory");
        timeline->nthreads = timeline->nspans = 0;
        memset(timeline->cpu_first, 0, sizeof(timeline->cpu_first));
    }
    flow_free(make->flow);
    free(make->ended);
    free(make->thread_of_life);
    store_free(timeline, make->thread_of_serial);
    free(make);
    return timeline;
}

void timeline_free(struct timeline *timeline)
{
    if (timeline == NULL) {
        return;
    }
    free(timeline->threads);
    store_free(timeline, timeline->spans);
    store_free(timeline, timeline->by_thread);
    store_free(timeline, timeline->by_cpu);
    store_free(timeline, timeline->messages);
    store_free(timeline, timeline->pulses);
    store_free(timeline, timeline->interrupts);
    store_free(timeline, timeline->handlers);
    store_free(timeline, timeline->calls);
    store_free(timeline, timeline->functions);
    store_free(timeline, timeline->users);
    store_free(timeline, timeline->covered);
    free(timeline->stores);
    free(timeline);
}

/* ---- finding ----------------------------------------------------------------------- */

const struct timeline_span *timeline_span(const struct timeline *timeline, uint32_t thread,
                                          uint32_t index)
{
    return &timeline->spans[timeline->by_thread[timeline->threads[thread].first + index]];
}

/* The first of the spans index[from..to) that ends after ns. */
static uint32_t span_search(const struct timeline *timeline, const uint32_t *index, uint32_t from,
                            uint32_t to, int64_t ns)
{
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;

        if (timeline->spans[index[middle]].to <= ns) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

uint32_t timeline_span_find(const struct timeline *timeline, uint32_t thread, int64_t ns)
{
    const struct timeline_thread *of = &timeline->threads[thread];

    return span_search(timeline, timeline->by_thread, of->first, of->first + of->count, ns) -
           of->first;
}

const struct timeline_span *timeline_span_at(const struct timeline *timeline, uint32_t thread,
                                             int64_t ns)
{
    uint32_t at = timeline_span_find(timeline, thread, ns);
    const struct timeline_span *span =
        at == timeline->threads[thread].count ? NULL : timeline_span(timeline, thread, at);

    return span == NULL || span->from > ns ? NULL : span;
}

uint32_t timeline_run_find(const struct timeline *timeline, unsigned cpu, int64_t ns)
{
    return cpu >= TIMELINE_CPUS ? timeline->cpu_first[TIMELINE_CPUS]
                                : span_search(timeline, timeline->by_cpu, timeline->cpu_first[cpu],
                                              timeline->cpu_first[cpu + 1], ns);
}

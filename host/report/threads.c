/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads of a page: the lives that the library knows, each with an index from 1. Ids are used
 * again, so a thread is found by its ids and a time.
 */
#include <stdlib.h>
#include <string.h>

#include "host/report/report.h"

struct report_threads {
    const struct kev_life **lives; /* of threads, from 1; in the order of the capture */
    uint32_t count;
    uint32_t *sorted;                  /* indexes of `lives`, by ids and time */
    const struct kev_life **processes; /* those that have a name, by pid and time */
    uint32_t nprocesses;
    struct kev_capture *capture;
};

/* ---- in order ------------------------------------------------------------------------ */

static int report_threads_compare(const struct kev_life *life, int32_t pid, int32_t tid, int64_t ns)
{
    if (life->pid != pid) {
        return life->pid < pid ? -1 : 1;
    }
    if (life->tid != tid) {
        return life->tid < tid ? -1 : 1;
    }
    return life->from_ns < ns ? -1 : life->from_ns > ns;
}

static int report_threads_order(const void *a, const void *b, void *arg)
{
    const struct report_threads *threads = arg;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct kev_life *y = threads->lives[j];
    int order = report_threads_compare(threads->lives[i], y->pid, y->tid, y->from_ns);

    return order != 0 ? order : i < j ? -1 : i > j;
}

static int report_threads_process_order(const void *a, const void *b)
{
    const struct kev_life *x = *(const struct kev_life *const *)a,
                          *y = *(const struct kev_life *const *)b;
    int order = report_threads_compare(x, y->pid, y->tid, y->from_ns);

    return order != 0 ? order : x < y ? -1 : x > y;
}

static void report_threads_fill(struct report_threads *threads, uint32_t lives)
{
    for (uint32_t i = 0; i < lives; i++) {
        const struct kev_life *life = kev_capture_life(threads->capture, i);

        if (life->tid != KEV_NOBODY) {
            threads->lives[++threads->count] = life;
            threads->sorted[threads->count - 1] = threads->count;
        } else if (life->name != NULL) {
            threads->processes[threads->nprocesses++] = life;
        }
    }
    if (threads->count > 0) {
        qsort_r(threads->sorted, threads->count, sizeof(*threads->sorted), report_threads_order,
                threads);
    }
    if (threads->nprocesses > 0) {
        qsort(threads->processes, threads->nprocesses, sizeof(const struct kev_life *),
              report_threads_process_order);
    }
}

struct report_threads *threads_new(struct kev_capture *capture)
{
    struct report_threads *threads = calloc(1, sizeof(*threads));
    uint32_t lives = 0;

    if (threads == NULL) {
        return NULL;
    }
    while (kev_capture_life(capture, lives) != NULL) {
        lives++;
    }
    threads->capture = capture;
    threads->lives = calloc((size_t)lives + 1, sizeof(const struct kev_life *));
    threads->processes = calloc((size_t)lives + 1, sizeof(const struct kev_life *));
    threads->sorted = calloc((size_t)lives + 1, sizeof(*threads->sorted));
    if (threads->lives == NULL || threads->processes == NULL || threads->sorted == NULL) {
        threads_free(threads);
        return NULL;
    }
    report_threads_fill(threads, lives);
    return threads;
}

void threads_free(struct report_threads *threads)
{
    if (threads != NULL) {
        free(threads->lives);
        free(threads->processes);
        free(threads->sorted);
        free(threads);
    }
}

/* ---- finding ------------------------------------------------------------------------- */

/* An event may come a little before the first one about its thread's life: then it is of the first
 * life there is. */
uint32_t threads_find(const struct report_threads *threads, int32_t pid, int32_t tid, int64_t ns)
{
    uint32_t low = 0, high = threads->count;
    const struct kev_life *life;

    if (pid == KEV_NOBODY || tid == KEV_NOBODY) {
        return REPORT_NOBODY;
    }
    while (low < high) { /* the first that begins after `ns` */
        uint32_t middle = low + (high - low) / 2;

        if (report_threads_compare(threads->lives[threads->sorted[middle]], pid, tid, ns) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (uint32_t at = low == 0 ? 0 : low - 1; at < threads->count && at <= low; at++) {
        life = threads->lives[threads->sorted[at]];
        if (life->pid == pid && life->tid == tid) {
            return threads->sorted[at];
        }
    }
    return REPORT_NOBODY;
}

static void json_time(struct bytes *json, int64_t ns)
{
    if (ns == KEV_NEVER || ns == KEV_EVER) {
        bytes_text(json, "null");
    } else {
        bytes_number(json, ns);
    }
}

/* The process at the thread's begin. One that was there before the recording has its name from its
 * own first event, which may be after the first one of the thread. */
static const struct kev_life *report_threads_process_of(const struct report_threads *threads,
                                                        const struct kev_life *thread)
{
    const struct kev_life *life =
        kev_capture_life_at(threads->capture, thread->pid, KEV_NOBODY, thread->from_ns);
    uint32_t low = 0, high = threads->nprocesses;

    if (life != NULL && life->name != NULL) {
        return life;
    }
    while (low < high) { /* the first of this pid that ends after the thread's begin */
        uint32_t middle = low + (high - low) / 2;
        const struct kev_life *other = threads->processes[middle];

        if (other->pid < thread->pid ||
            (other->pid == thread->pid && other->to_ns <= thread->from_ns)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < threads->nprocesses && threads->processes[low]->pid == thread->pid
               ? threads->processes[low]
               : life;
}

void threads_json(const struct report_threads *threads, struct bytes *json)
{
    bytes_text(json, "\"threads\":[null");
    for (uint32_t i = 1; i <= threads->count; i++) {
        const struct kev_life *thread = threads->lives[i];
        const struct kev_life *process = report_threads_process_of(threads, thread);

        if (process == NULL) { /* another CPU's dump of the state reported it later */
            process = kev_capture_life_at(threads->capture, thread->pid, KEV_NOBODY, thread->to_ns);
        }

        bytes_text(json, ",\n[");
        bytes_number(json, thread->pid);
        bytes_text(json, ",");
        bytes_number(json, thread->tid);
        bytes_text(json, ",");
        json_time(json, thread->from_ns);
        bytes_text(json, ",");
        json_time(json, thread->to_ns);
        bytes_text(json, ",");
        bytes_json(json, process == NULL ? NULL : process->name,
                   process == NULL || process->name == NULL ? 0 : strlen(process->name));
        bytes_text(json, ",");
        bytes_json(json, thread->name, thread->name == NULL ? 0 : strlen(thread->name));
        bytes_text(json, "]");
    }
    bytes_text(json, "]");
}

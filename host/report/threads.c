/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads of a page: the lives that the library knows, each with an index from 1. Ids are used
 * again, so a thread is found by its ids and a time.
 */
#include <stdlib.h>
#include <string.h>

#include "host/report/report.h"

struct thread {
    int32_t pid, tid;
    int64_t from, to;
    const char *name;
    uint32_t next; /* an earlier life in the same bucket, 0: none */
};

struct report_threads {
    struct thread *threads; /* from 1 */
    uint32_t count;
    uint32_t *buckets; /* index of the last life, 0: none */
    uint32_t mask;
    struct kev_capture *capture;
};

static uint32_t report_threads_bucket_of(const struct report_threads *threads, int32_t pid,
                                         int32_t tid)
{
    uint64_t key = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;

    return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & threads->mask;
}

struct report_threads *threads_new(struct kev_capture *capture)
{
    struct report_threads *threads = calloc(1, sizeof(*threads));
    const struct kev_life *life;
    uint32_t lives = 0;

    if (threads == NULL) {
        return NULL;
    }
    while (kev_capture_life(capture, lives) != NULL) {
        lives++;
    }
    threads->capture = capture;
    for (threads->mask = 15; threads->mask < lives; threads->mask = 2 * threads->mask + 1) {
    }
    threads->threads = calloc((size_t)lives + 1, sizeof(*threads->threads));
    threads->buckets = calloc((size_t)threads->mask + 1, sizeof(*threads->buckets));
    if (threads->threads == NULL || threads->buckets == NULL) {
        threads_free(threads);
        return NULL;
    }
    for (uint32_t i = 0; (life = kev_capture_life(capture, i)) != NULL; i++) {
        if (life->tid != KEV_NOBODY) {
            uint32_t *bucket =
                &threads->buckets[report_threads_bucket_of(threads, life->pid, life->tid)];

            threads->threads[++threads->count] = (struct thread){
                life->pid, life->tid, life->from_ns, life->to_ns, life->name, *bucket};
            *bucket = threads->count;
        }
    }
    return threads;
}

void threads_free(struct report_threads *threads)
{
    if (threads != NULL) {
        free(threads->threads);
        free(threads->buckets);
        free(threads);
    }
}

/* An event may come a little before the first one about its thread's life: then it is of the first
 * life there is. */
uint32_t threads_find(const struct report_threads *threads, int32_t pid, int32_t tid, int64_t ns)
{
    uint32_t found = REPORT_NOBODY;

    if (pid == KEV_NOBODY || tid == KEV_NOBODY) {
        return REPORT_NOBODY;
    }
    for (uint32_t i = threads->buckets[report_threads_bucket_of(threads, pid, tid)]; i != 0;
         i = threads->threads[i].next) {
        const struct thread *thread = &threads->threads[i];

        if (thread->pid == pid && thread->tid == tid) {
            found = i;
            if (thread->from <= ns) {
                break;
            }
        }
    }
    return found;
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
                                                        const struct thread *thread)
{
    const struct kev_life *life =
        kev_capture_life_at(threads->capture, thread->pid, KEV_NOBODY, thread->from);

    for (unsigned i = 0; life == NULL || life->name == NULL; i++) {
        const struct kev_life *other = kev_capture_life(threads->capture, i);

        if (other == NULL) {
            return life;
        }
        if (other->pid == thread->pid && other->tid == KEV_NOBODY && other->name != NULL &&
            (other->to_ns == KEV_NEVER || other->to_ns > thread->from)) {
            return other;
        }
    }
    return life;
}

void threads_json(const struct report_threads *threads, struct bytes *json)
{
    bytes_text(json, "\"threads\":[null");
    for (uint32_t i = 1; i <= threads->count; i++) {
        const struct thread *thread = &threads->threads[i];
        const struct kev_life *process = report_threads_process_of(threads, thread);

        if (process == NULL) { /* another CPU's dump of the state reported it later */
            process = kev_capture_life_at(threads->capture, thread->pid, KEV_NOBODY, thread->to);
        }

        bytes_text(json, ",\n[");
        bytes_number(json, thread->pid);
        bytes_text(json, ",");
        bytes_number(json, thread->tid);
        bytes_text(json, ",");
        json_time(json, thread->from);
        bytes_text(json, ",");
        json_time(json, thread->to);
        bytes_text(json, ",");
        bytes_json(json, process == NULL ? NULL : process->name,
                   process == NULL || process->name == NULL ? 0 : strlen(process->name));
        bytes_text(json, ",");
        bytes_json(json, thread->name, thread->name == NULL ? 0 : strlen(thread->name));
        bytes_text(json, "]");
    }
    bytes_text(json, "]");
}

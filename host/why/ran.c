/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads that ran on the CPUs in a stretch of time. Memory is bounded: with more than RAN_MOST
 * threads the later ones are left out, the longest of those that are here are shown. Proof:
 * test/host/why/why_test.c, test/host/why/check.
 */
#include <stdlib.h>

#include "host/why/why.h"

#define RAN_MOST 256

static void ran_add(struct why_ran *all, unsigned *n, const struct why_ran *more)
{
    for (unsigned i = 0; i < *n; i++) {
        if (all[i].thread == more->thread && all[i].priority == more->priority) {
            all[i].ns += more->ns;
            return;
        }
    }
    if (*n < RAN_MOST) {
        all[(*n)++] = *more;
    }
}

/* Idle time comes last: on a machine of many CPUs it would hide who ran instead. */
static int ran_order(const void *a, const void *b)
{
    const struct why_ran *x = a, *y = b;

    if (x->idle != y->idle) {
        return x->idle ? 1 : -1;
    }
    if (x->ns != y->ns) {
        return x->ns > y->ns ? -1 : 1;
    }
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

unsigned why_ran(const struct timeline *timeline, uint32_t thread, int64_t from, int64_t to,
                 struct why_ran ran[WHY_RAN])
{
    struct why_ran all[RAN_MOST];
    unsigned n = 0;

    for (unsigned cpu = 0; cpu < timeline->cpus; cpu++) {
        uint32_t at = timeline_run_find(timeline, cpu, from);
        int64_t done = from;

        for (; at < timeline->cpu_first[cpu + 1] && done < to; at++) {
            const struct timeline_span *run = &timeline->spans[timeline->by_cpu[at]];
            int64_t begin = run->from > from ? run->from : from;
            int64_t end = run->to < to ? run->to : to;

            if (begin >= to) {
                break;
            }
            if (begin > done) {
                ran_add(all, &n, &(struct why_ran){TIMELINE_NONE, -1, false, begin - done});
            }
            if (end > begin && run->thread != thread) {
                ran_add(all, &n,
                        &(struct why_ran){run->thread, run->priority,
                                          timeline->threads[run->thread].idle, end - begin});
            }
            done = end > done ? end : done;
        }
        if (done < to) {
            ran_add(all, &n, &(struct why_ran){TIMELINE_NONE, -1, false, to - done});
        }
    }
    qsort(all, n, sizeof(all[0]), ran_order);
    n = n < WHY_RAN ? n : WHY_RAN;
    for (unsigned i = 0; i < n; i++) {
        ran[i] = all[i];
    }
    return n;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of the tables' rows: always total, so that the same capture gives the same text.
 */
#include <stdlib.h>

#include "host/stat/stat.h"

static int stat_order_compare_descending(uint64_t a, uint64_t b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

static int stat_order_compare_ascending(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b ? 1 : 0;
}

/* By pid, and of those that had one in turn by that; NULL is not known, and first. */
static int stat_order_processes(const struct process *x, const struct process *y)
{
    int order = stat_order_compare_ascending(x == NULL ? 0 : x->pid, y == NULL ? 0 : y->pid);

    return order != 0
               ? order
               : stat_order_compare_ascending(x == NULL ? 0 : x->index, y == NULL ? 0 : y->index);
}

static int stat_order_lives(const struct thread *x, const struct thread *y)
{
    int order = stat_order_compare_ascending(x->pid, y->pid);

    order = order != 0 ? order : stat_order_compare_ascending(x->tid, y->tid);
    return order != 0 ? order : stat_order_compare_ascending(x->life, y->life);
}

static int thread_order(const void *a, const void *b)
{
    const struct thread *x = *(struct thread *const *)a, *y = *(struct thread *const *)b;
    int order = stat_order_compare_ascending(x->pid == STAT_IDLE_PID, y->pid == STAT_IDLE_PID);

    order = order != 0
                ? order
                : stat_order_compare_descending(x->time[STATE_RUNNING], y->time[STATE_RUNNING]);
    return order != 0 ? order : stat_order_lives(x, y);
}

static int served_order(const void *a, const void *b)
{
    const struct served *x = *(struct served *const *)a, *y = *(struct served *const *)b;
    int order = stat_order_compare_descending(x->time, y->time);

    order = order != 0 ? order : stat_order_lives(x->client, y->client);
    return order != 0 ? order : stat_order_processes(x->server, y->server);
}

static int pair_order(const void *a, const void *b)
{
    const struct pair *x = *(struct pair *const *)a, *y = *(struct pair *const *)b;
    int order = stat_order_compare_descending(x->sent, y->sent);

    order = order != 0 ? order : stat_order_processes(x->from, y->from);
    return order != 0 ? order : stat_order_processes(x->to, y->to);
}

static int pulses_order(const void *a, const void *b)
{
    return stat_order_processes(*(const struct process *const *)a,
                                *(const struct process *const *)b);
}

static void *stat_order_sort_map(const struct map *map, uint32_t *n,
                                 int (*order)(const void *, const void *))
{
    void **values = map_values(map, n);

    if (values != NULL) {
        qsort(values, *n, sizeof(*values), order);
    }
    return values;
}

struct thread **threads_by_time(struct stat *stat, uint32_t *n)
{
    struct thread **threads = kymo_memory(calloc(stat->nthreads + 1, sizeof(*threads)));

    *n = stat->nthreads;
    for (uint32_t i = 0; i < *n; i++) {
        threads[i] = stat->threads[i];
    }
    qsort(threads, *n, sizeof(*threads), thread_order);
    return threads;
}

struct pair **pairs_by_count(struct stat *stat, uint32_t *n)
{
    return stat_order_sort_map(&stat->pairs, n, pair_order);
}

struct served **served_by_time(struct stat *stat, uint32_t *n)
{
    return stat_order_sort_map(&stat->served, n, served_order);
}

const struct process **pulses_by_pid(struct stat *stat, uint32_t *n)
{
    const struct process **processes =
        kymo_memory(calloc(stat->nprocesses + 1, sizeof(*processes)));

    *n = 0;
    for (const struct process *to = stat->newest; to != NULL; to = to->older) {
        bool any = false;

        for (unsigned i = 0; i < sizeof(to->pulses) / sizeof(to->pulses[0]); i++) {
            any |= to->pulses[i] > 0;
        }
        if (any) {
            processes[(*n)++] = to;
        }
    }
    qsort(processes, *n, sizeof(*processes), pulses_order);
    return processes;
}

static bool call_used(const struct call *call)
{
    return call->enter + call->exit + call->interrupted > 0;
}

unsigned calls_by_count(const struct stat *stat, unsigned order[STAT_CALLS])
{
    unsigned n = 0;

    for (unsigned i = 0; i < STAT_CALLS; i++) {
        unsigned at;

        if (!call_used(&stat->calls[i])) {
            continue;
        }
        for (at = n++; at > 0 && stat->calls[order[at - 1]].enter < stat->calls[i].enter; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    return n;
}

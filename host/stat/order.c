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

static int thread_order(const void *a, const void *b)
{
    const struct thread *x = *(struct thread *const *)a, *y = *(struct thread *const *)b;
    int order = stat_order_compare_ascending(x->pid == STAT_IDLE_PID, y->pid == STAT_IDLE_PID);

    order = order != 0
                ? order
                : stat_order_compare_descending(x->time[STATE_RUNNING], y->time[STATE_RUNNING]);
    order = order != 0 ? order : stat_order_compare_ascending(x->pid, y->pid);
    return order != 0 ? order : stat_order_compare_ascending(x->tid, y->tid);
}

static int served_order(const void *a, const void *b)
{
    const struct served *x = *(struct served *const *)a, *y = *(struct served *const *)b;
    int order = stat_order_compare_descending(x->time, y->time);

    order = order != 0 ? order : stat_order_compare_ascending(x->client->pid, y->client->pid);
    order = order != 0 ? order : stat_order_compare_ascending(x->client->tid, y->client->tid);
    return order != 0 ? order : stat_order_compare_ascending(x->server, y->server);
}

static int pair_order(const void *a, const void *b)
{
    const struct pair *x = *(struct pair *const *)a, *y = *(struct pair *const *)b;
    int order = stat_order_compare_descending(x->sent, y->sent);

    order = order != 0 ? order : stat_order_compare_ascending(x->from, y->from);
    return order != 0 ? order : stat_order_compare_ascending(x->to, y->to);
}

static int pulses_order(const void *a, const void *b)
{
    const struct pulses *x = *(struct pulses *const *)a, *y = *(struct pulses *const *)b;

    return stat_order_compare_ascending(x->to, y->to);
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
    return stat_order_sort_map(&stat->threads, n, thread_order);
}

struct pair **pairs_by_count(struct stat *stat, uint32_t *n)
{
    return stat_order_sort_map(&stat->pairs, n, pair_order);
}

struct served **served_by_time(struct stat *stat, uint32_t *n)
{
    return stat_order_sort_map(&stat->served, n, served_order);
}

struct pulses **pulses_by_pid(struct stat *stat, uint32_t *n)
{
    return stat_order_sort_map(&stat->pulses, n, pulses_order);
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

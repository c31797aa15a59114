/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which thread ran where and when: for `kymo assert`, which takes a clause's records only when the
 * piece of the capture in which they were made has been fed. Memory: the switches of one piece. See
 * after.h.
 */
#include "host/after/after.h"
#include "host/kymo.h"

#include <stdlib.h>

struct ran {
    uint64_t ns;      /* from when on */
    int32_t pid, tid; /* pid 0: unknown */
};

static struct ran_cpu {
    struct ran *at;
    size_t n, room;
} cpus[KEV_CPUS];
static bool after_ran_is_watched;

void after_ran_watch(struct target *t)
{
    (void)t;
    after_ran_is_watched = true;
}

void after_ran_restart(void)
{
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        if (cpus[cpu].n > 1) {
            cpus[cpu].at[0] = cpus[cpu].at[cpus[cpu].n - 1];
            cpus[cpu].n = 1;
        }
    }
}

void after_ran_note(unsigned cpu, const struct after_thread *t)
{
    struct ran_cpu *c = &cpus[cpu];

    if (!after_ran_is_watched) {
        return;
    }
    if (c->n == c->room) {
        size_t room = c->room ? c->room * 2 : 64;

        c->at = kymo_memory(realloc(c->at, room * sizeof(*c->at)));
        c->room = room;
    }
    c->at[c->n++] = (struct ran){.ns = after_now.ns, .pid = t ? t->pid : 0, .tid = t ? t->tid : 0};
}

bool after_ran(struct target *t, unsigned cpu, uint64_t ns, bool before, int32_t *pid, int32_t *tid)
{
    const struct ran_cpu *c = &cpus[cpu];
    size_t low = 0, high = c->n; /* the switches before `low` are of then, those from `high` not */

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before ? c->at[middle].ns < ns : c->at[middle].ns <= ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (void)t;
    if (low == 0 || c->at[low - 1].pid == 0) {
        return false;
    }
    *pid = c->at[low - 1].pid;
    *tid = c->at[low - 1].tid;
    return true;
}

const char *after_ran_name(struct target *t, int32_t pid)
{
    const struct after_process *p = after_process_find(pid);

    (void)t;
    return p ? p->name : "";
}

uint64_t after_ran_now(struct target *t)
{
    (void)t;
    return after_now.ns;
}

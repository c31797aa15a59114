/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes, threads and CPUs as the events so far tell. Memory grows with what lives at once, and
 * with the names of the last ENDED_MOST processes that have ended. See after.h.
 */
#include "host/after/after.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHAINS = 4096, ENDED_MOST = 65536, KERNEL_PID = 1 };

static struct after_thread *after_state_threads[CHAINS];
static struct after_process *after_state_processes[CHAINS];
static struct after_thread *after_state_currents[KEV_CPUS];       /* NULL: unknown */
static struct after_thread after_state_unknown_threads[KEV_CPUS]; /* in their place; pid 0 */
static int32_t after_state_ended_pids[ENDED_MOST]; /* pids, the oldest at ended_n % ENDED_MOST */
static uint64_t ended_n;
static uint64_t last_key;
uint32_t after_epoch = 1;
struct after_now after_now;

static void *after_state_make_zeroed(size_t bytes)
{
    void *made = calloc(1, bytes);

    if (!made) {
        fputs("dtrace: not enough memory for the capture's threads\n", stderr);
        exit(1);
    }
    return made;
}

static unsigned chain_of(int32_t pid, int32_t tid)
{
    return ((uint32_t)pid * 31u + (uint32_t)tid) % CHAINS;
}

/* ---- threads ------------------------------------------------------------------------- */

struct after_thread *after_thread_find(int32_t pid, int32_t tid)
{
    struct after_thread *t = after_state_threads[chain_of(pid, tid)];

    while (t && (t->pid != pid || t->tid != tid)) {
        t = t->next;
    }
    return t;
}

struct after_thread *after_thread_get(int32_t pid, int32_t tid)
{
    struct after_thread *t = after_thread_find(pid, tid);

    if (!t) {
        struct after_thread **chain = &after_state_threads[chain_of(pid, tid)];
        t = after_state_make_zeroed(sizeof(*t));
        *t = (struct after_thread){.next = *chain,
                                   .key = ++last_key,
                                   .pid = pid,
                                   .tid = tid,
                                   .priority = -1,
                                   .policy = -1};
        *chain = t;
    }
    return t;
}

void after_thread_end(struct after_thread *t)
{
    struct after_thread **link = &after_state_threads[chain_of(t->pid, t->tid)];

    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        if (after_state_currents[cpu] == t) {
            after_current_set(cpu, NULL);
        }
    }
    while (*link != t) {
        link = &(*link)->next;
    }
    *link = t->next;
    if (after_now.thread == t) {
        after_now.thread = after_current(after_now.cpu);
    }
    free(t->stack);
    free(t);
}

/* ---- processes ----------------------------------------------------------------------- */

struct after_process *after_process_find(int32_t pid)
{
    struct after_process *p = after_state_processes[(uint32_t)pid % CHAINS];

    while (p && p->pid != pid) {
        p = p->next;
    }
    return p;
}

struct after_process *after_process_get(int32_t pid)
{
    struct after_process *p = after_process_find(pid);

    if (!p) {
        struct after_process **chain = &after_state_processes[(uint32_t)pid % CHAINS];
        p = after_state_make_zeroed(sizeof(*p));
        *p = (struct after_process){.next = *chain, .pid = pid};
        *chain = p;
    }
    return p;
}

static void after_process_forget(int32_t pid)
{
    struct after_process **link = &after_state_processes[(uint32_t)pid % CHAINS], *gone;

    while (*link && ((*link)->pid != pid || (*link)->lives)) {
        link = &(*link)->next;
    }
    gone = *link;
    if (gone) {
        *link = gone->next;
        free(gone);
    }
}

void after_process_end(struct after_process *p)
{
    int32_t *slot = &after_state_ended_pids[ended_n++ % ENDED_MOST];

    p->lives = false;
    if (ended_n > ENDED_MOST && *slot != p->pid) {
        after_process_forget(*slot);
    }
    *slot = p->pid;
}

/* ---- CPUs ---------------------------------------------------------------------------- */

struct after_thread *after_current(unsigned cpu)
{
    if (after_state_currents[cpu]) {
        return after_state_currents[cpu];
    }
    after_state_unknown_threads[cpu].key = UINT64_MAX - cpu;
    return &after_state_unknown_threads[cpu];
}

/* The kernel's process has an idle thread for each CPU, in their order. */
void after_current_set(unsigned cpu, struct after_thread *t)
{
    after_state_currents[cpu] = t ? t : after_thread_get(KERNEL_PID, (int32_t)cpu + 1);
    after_state_currents[cpu]->cpu = (uint8_t)cpu;
    after_ran_note(cpu, after_state_currents[cpu]);
}

void after_current_forget(unsigned cpu)
{
    after_state_currents[cpu] = NULL;
    after_ran_note(cpu, NULL);
}

void after_state_free(void)
{
    for (unsigned i = 0; i < CHAINS; i++) {
        for (struct after_thread *t = after_state_threads[i], *next; t; t = next) {
            next = t->next;
            free(t->stack);
            free(t);
        }
        for (struct after_process *p = after_state_processes[i], *next; p; p = next) {
            next = p->next;
            free(p);
        }
        after_state_threads[i] = NULL;
        after_state_processes[i] = NULL;
    }
}

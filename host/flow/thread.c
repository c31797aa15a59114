/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lives of threads and processes. An id that is used again is another one, also if the end of the
 * one before was not seen (flow.h).
 */
#include <stdlib.h>

#include "host/flow/own.h"

#define IDLE_PID 1 /* the kernel's process: its first threads idle on the CPUs */

bool flow_is_idle(const struct kev_facts *facts, int32_t pid, int32_t tid)
{
    return pid == IDLE_PID && tid >= 1 && tid <= (int64_t)facts->cpus;
}

static uint32_t flow_bucket(int32_t pid, int32_t tid)
{
    uint64_t key = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;

    return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 40) & (FLOW_BUCKETS - 1);
}

/* ---- processes ----------------------------------------------------------------------- */

static struct flow_process *flow_process_of(struct flow *flow, int32_t pid)
{
    struct flow_process **at = &flow->processes[flow_bucket(pid, 0)], *process;

    for (process = *at; process != NULL; process = process->next) {
        if (process->pid == pid) {
            return process;
        }
    }
    process = calloc(1, sizeof(*process));
    if (process == NULL) {
        flow->failed = true;
        return NULL;
    }
    *process = (struct flow_process){.next = *at, .pid = pid};
    *at = process;
    return process;
}

/* ---- threads ------------------------------------------------------------------------- */

static struct flow_thread *flow_thread_find(struct flow *flow, int32_t pid, int32_t tid)
{
    struct flow_thread *thread = flow->threads[flow_bucket(pid, tid)];

    while (thread != NULL && (thread->pid != pid || thread->tid != tid)) {
        thread = thread->next;
    }
    return thread;
}

static struct flow_thread *flow_thread_new(struct flow *flow, int32_t pid, int32_t tid)
{
    struct flow_thread **at = &flow->threads[flow_bucket(pid, tid)];
    struct flow_process *process = flow_process_of(flow, pid);
    struct flow_thread *thread = process == NULL ? NULL : calloc(1, sizeof(*thread));
    const struct flow_state unknown = {.mark = FLOW_UNMARKED,
                                       .message = FLOW_UNMARKED,
                                       .state = -1,
                                       .cpu = -1,
                                       .priority = -1,
                                       .on = -1};

    if (thread == NULL) {
        flow->failed = true;
        return NULL;
    }
    *thread = (struct flow_thread){.next = *at,
                                   .sibling = process->threads,
                                   .sibling_at = &process->threads,
                                   .process = process,
                                   .now = unknown,
                                   .then = unknown,
                                   .message_mark = FLOW_UNMARKED,
                                   .serial = ++flow->serial,
                                   .mark = FLOW_UNMARKED,
                                   .pid = pid,
                                   .tid = tid,
                                   .idle = flow_is_idle(flow->facts, pid, tid),
                                   .priority = -1,
                                   .cpu = -1,
                                   .held = -1};
    *at = thread;
    if (thread->sibling != NULL) {
        thread->sibling->sibling_at = &thread->sibling;
    }
    process->threads = thread;
    flow->unknown++;
    if (flow->ops->thread != NULL) {
        flow->ops->thread(flow->arg, thread, flow->now);
    }
    return thread;
}

struct flow_thread *flow_thread_of(struct flow *flow, int32_t pid, int32_t tid)
{
    struct flow_thread *thread;

    if (pid == KEV_NOBODY || tid == KEV_NOBODY) {
        return NULL;
    }
    thread = flow_thread_find(flow, pid, tid);
    return thread == NULL ? flow_thread_new(flow, pid, tid) : thread;
}

struct flow_thread *flow_find(struct flow *flow, int32_t pid, int32_t tid)
{
    return flow_thread_find(flow, pid, tid);
}

/* Its end was not seen. */
static void flow_thread_gone(struct flow *flow, struct flow_thread *thread, int64_t ns)
{
    thread->gone = false; /* it is ended below */
    if (thread->cpu >= 0) {
        flow_cpu_leave(flow, (unsigned)thread->cpu, ns, false);
    }
    flow_thread_end(flow, thread, ns, false);
}

void flow_thread_begin(struct flow *flow, int32_t pid, int32_t tid, int64_t ns)
{
    struct flow_thread *thread = flow_thread_find(flow, pid, tid);

    if (thread != NULL) {
        flow_thread_gone(flow, thread, ns);
    }
}

void flow_process_begin(struct flow *flow, int32_t pid, int64_t ns)
{
    struct flow_process **at = &flow->processes[flow_bucket(pid, 0)], *process;

    while (*at != NULL && (*at)->pid != pid) {
        at = &(*at)->next;
    }
    process = *at;
    if (process == NULL) {
        return;
    }
    for (struct flow_thread *thread = process->threads, *next; thread != NULL; thread = next) {
        next = thread->sibling;
        flow_thread_gone(flow, thread, ns);
    }
}

/* ---- of which something is known ------------------------------------------------------- */

void flow_thread_noted(struct flow *flow, struct flow_thread *thread)
{
    if (thread->newer_at != NULL) {
        return;
    }
    thread->newer = flow->newest;
    thread->newer_at = &flow->newest;
    if (thread->newer != NULL) {
        thread->newer->newer_at = &thread->newer;
    }
    flow->newest = thread;
}

static void flow_thread_unnote(struct flow_thread *thread)
{
    if (thread->newer_at == NULL) {
        return;
    }
    *thread->newer_at = thread->newer;
    if (thread->newer != NULL) {
        thread->newer->newer_at = thread->newer_at;
    }
    thread->newer = NULL;
    thread->newer_at = NULL;
}

void flow_threads_do(struct flow *flow, int64_t ns,
                     void (*fn)(struct flow *, struct flow_thread *, int64_t))
{
    for (struct flow_thread *thread = flow->newest, *next; thread != NULL; thread = next) {
        next = thread->newer;
        if (thread->cpu < 0) {
            fn(flow, thread, ns);
            if (thread->now.state < 0 && thread->held < 0 && thread->slices.depth == 0 &&
                thread->message == 0) {
                flow_thread_unnote(thread);
            }
        }
    }
}

/* ---- the end ------------------------------------------------------------------------- */

void flow_thread_end(struct flow *flow, struct flow_thread *thread, int64_t ns, bool ended)
{
    struct flow_thread **at = &flow->threads[flow_bucket(thread->pid, thread->tid)];

    flow_thread_over(flow, thread, ns, ended);
    if (flow->ops->gone != NULL) {
        flow->ops->gone(flow->arg, thread, ns);
    }
    flow->unknown--;
    flow_thread_unnote(thread);
    while (*at != thread) {
        at = &(*at)->next;
    }
    *at = thread->next;
    *thread->sibling_at = thread->sibling;
    if (thread->sibling != NULL) {
        thread->sibling->sibling_at = thread->sibling_at;
    }
    for (unsigned cpu = 0; cpu < FLOW_CPUS; cpu++) {
        if (flow->cpus[cpu].told == thread) {
            flow->cpus[cpu].told = NULL;
        }
    }
    thread->next = flow->corpse;
    flow->corpse = thread;
}

static void flow_thread_free(struct flow_thread *thread)
{
    free(thread->slices.open);
    free(thread);
}

void flow_corpses_bury(struct flow *flow)
{
    while (flow->corpse != NULL) {
        struct flow_thread *thread = flow->corpse;

        flow->corpse = thread->next;
        flow_thread_free(thread);
    }
}

void flow_threads_free(struct flow *flow)
{
    flow_corpses_bury(flow);
    for (unsigned i = 0; i < FLOW_BUCKETS; i++) {
        for (struct flow_thread *thread = flow->threads[i], *next; thread; thread = next) {
            next = thread->next;
            flow_thread_free(thread);
        }
        for (struct flow_process *process = flow->processes[i], *next; process; process = next) {
            next = process->next;
            free(process);
        }
    }
}

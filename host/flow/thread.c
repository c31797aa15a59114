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

/* ---- processes ----------------------------------------------------------------------- */

static struct flow_process *flow_process_find(const struct flow *flow, int32_t pid)
{
    return (struct flow_process *)id_tree_find(&flow->processes, (uint32_t)pid);
}

static struct flow_process *flow_process_of(struct flow *flow, int32_t pid)
{
    struct flow_process *process = flow_process_find(flow, pid);

    if (process != NULL) {
        return process;
    }
    process = calloc(1, sizeof(*process));
    if (process == NULL) {
        flow->failed = true;
        return NULL;
    }
    process->pid = pid;
    id_tree_add(&flow->processes, &process->node, (uint32_t)pid);
    return process;
}

/* ---- threads ------------------------------------------------------------------------- */

static struct flow_thread *flow_thread_find(const struct flow *flow, int32_t pid, int32_t tid)
{
    return (struct flow_thread *)id_tree_find(&flow->threads, id_tree_pair(pid, tid));
}

static struct flow_thread *flow_thread_new(struct flow *flow, int32_t pid, int32_t tid)
{
    struct flow_process *process = flow_process_of(flow, pid);
    struct flow_thread *thread = process == NULL ? NULL : calloc(1, sizeof(*thread));

    if (thread == NULL) {
        flow->failed = true;
        return NULL;
    }
    *thread = (struct flow_thread){.sibling = process->threads,
                                   .sibling_at = &process->threads,
                                   .process = process,
                                   .now = flow_state_unknown,
                                   .then = flow_state_unknown,
                                   .message_mark = FLOW_UNMARKED,
                                   .serial = ++flow->serial,
                                   .mark = FLOW_UNMARKED,
                                   .pid = pid,
                                   .tid = tid,
                                   .idle = flow_is_idle(flow->facts, pid, tid),
                                   .priority = -1,
                                   .cpu = -1,
                                   .held = -1};
    id_tree_add(&flow->threads, &thread->node, id_tree_pair(pid, tid));
    if (thread->sibling != NULL) {
        thread->sibling->sibling_at = &thread->sibling;
    }
    process->threads = thread;
    flow->live++;
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
    if (thread == NULL && flow->live >= flow->live_most) {
        flow->doubt = "more than 1000000 threads lived at once: of the others nothing is known";
        return NULL;
    }
    return thread == NULL ? flow_thread_new(flow, pid, tid) : thread;
}

struct flow_thread *flow_find(struct flow *flow, int32_t pid, int32_t tid)
{
    return flow_thread_find(flow, pid, tid);
}

struct flow_thread *flow_only(const struct flow *flow, int32_t pid)
{
    const struct flow_process *process = flow_process_find(flow, pid);
    struct flow_thread *first = process == NULL ? NULL : process->threads;

    return first == NULL || first->sibling != NULL ? NULL : first;
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
    struct flow_process *process = flow_process_find(flow, pid);

    if (process == NULL) {
        return;
    }
    for (struct flow_thread *thread = process->threads, *next; thread != NULL; thread = next) {
        next = thread->sibling;
        flow_thread_gone(flow, thread, ns);
    }
}

/* ---- states that wait for a CPU's thread to become known ------------------------------- */

void flow_thread_hold(struct flow *flow, struct flow_thread *thread, unsigned cpu)
{
    flow_thread_unhold(thread);
    thread->held = (int16_t)cpu;
    thread->held_next = flow->cpus[cpu].held;
    thread->held_at = &flow->cpus[cpu].held;
    if (thread->held_next != NULL) {
        thread->held_next->held_at = &thread->held_next;
    }
    flow->cpus[cpu].held = thread;
}

void flow_thread_unhold(struct flow_thread *thread)
{
    if (thread->held < 0) {
        return;
    }
    thread->held = -1;
    *thread->held_at = thread->held_next;
    if (thread->held_next != NULL) {
        thread->held_next->held_at = thread->held_at;
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
        flow->steps++;
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
    flow_thread_over(flow, thread, ns, ended);
    if (flow->ops->gone != NULL) {
        flow->ops->gone(flow->arg, thread, ns);
    }
    flow->live--;
    flow->unknown--;
    flow_thread_unnote(thread);
    id_tree_remove(&flow->threads, &thread->node);
    *thread->sibling_at = thread->sibling;
    if (thread->sibling != NULL) {
        thread->sibling->sibling_at = thread->sibling_at;
    }
    if (thread->process->threads == NULL) {
        id_tree_remove(&flow->processes, &thread->process->node);
        free(thread->process);
        thread->process = NULL;
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
    struct id_node *node;

    flow_corpses_bury(flow);
    while ((node = id_tree_take(&flow->threads)) != NULL) {
        flow_thread_free((struct flow_thread *)node);
    }
    while ((node = id_tree_take(&flow->processes)) != NULL) {
        free(node);
    }
}

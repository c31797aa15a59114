/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The starts and ends of the simulated system's threads and processes: kernel/thread/thread_end.c
 * and kernel/proc/process.c in short. The last thread of a process, or the first one of a process
 * that is to end, becomes its ender: it ends the others, frees what clients wait for, then ends
 * itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/host/fabricate/sim.h"

#define LIFE_CHILD 10 /* ECHILD */
#define LIFE_ESRCH 3
#define LIFE_EAGAIN 11
#define LIFE_SIGKILL 9

static int life_result(struct sim *sim, int self, int32_t result, int32_t error)
{
    sim->threads[self].result = error != 0 ? -1 : result;
    sim->threads[self].error = error;
    return SIM_DONE;
}

/* ---- starts ------------------------------------------------------------------------ */

static uint32_t life_new(struct sim *sim, int thread)
{
    struct truth *truth = sim->truth;
    const struct sim_thread *t = &sim->threads[thread];
    struct truth_thread *life;

    truth->threads = mk_grown(truth->threads, truth->nthreads, sizeof(*truth->threads));
    life = &truth->threads[truth->nthreads];
    *life = (struct truth_thread){.to = UINT64_MAX,
                                  .pid = sim->procs[t->proc].pid,
                                  .tid = t->tid,
                                  .instance = sim->procs[t->proc].instance,
                                  .idle = t->idle,
                                  .process_is = sim->procs[t->proc].named,
                                  .name_is = TRUTH_NONE,
                                  .began = TRUTH_NONE,
                                  .ended = TRUTH_NONE};
    snprintf(life->process, sizeof(life->process), "%s", sim->procs[t->proc].name);
    return truth->nthreads++;
}

int sim_thread_new(struct sim *sim, int proc, uint8_t priority)
{
    struct sim_proc *p = &sim->procs[proc];
    int tid = 0, thread = 0;
    int tids = proc == 0 ? SIM_TIDS + SIM_CPUS_MOST : SIM_TIDS;

    while (tid < tids && p->thread_of_tid[tid] >= 0) {
        tid++;
    }
    while (thread < SIM_THREADS && sim->threads[thread].used) {
        thread++;
    }
    if (tid == tids || thread == SIM_THREADS) {
        return -1;
    }
    sim->threads[thread] = (struct sim_thread){.used = true,
                                               .generation = sim->threads[thread].generation,
                                               .proc = proc,
                                               .tid = tid + 1,
                                               .state = STATE_STOPPED,
                                               .cpu = -1,
                                               .own = priority,
                                               .priority = priority,
                                               .call = {.number = SIM_NO_CALL},
                                               .owner = -1,
                                               .server = -1,
                                               .long_client = -1,
                                               .message = TRUTH_NONE,
                                               .call_event = TRUTH_NONE,
                                               .joiner = -1,
                                               .span = TRUTH_NONE,
                                               .traced_cpu = -1};
    sim->threads[thread].life = life_new(sim, thread);
    p->thread_of_tid[tid] = thread;
    p->nthreads++;
    return thread;
}

static int life_start(struct sim *sim, int proc, uint8_t priority)
{
    int thread = sim_thread_new(sim, proc, priority);
    struct truth_thread *life;
    uint32_t event;

    if (thread < 0) {
        return -1;
    }
    event = sim_event2(sim, sim->on, TRACE_CLASS_PR_TH, PR_TH_CREATED,
                       (uint32_t)sim->procs[proc].pid, (uint32_t)sim->threads[thread].tid);
    life = &sim->truth->threads[sim->threads[thread].life];
    life->from = sim->events[event].time;
    life->began = event;
    sim_state(sim, thread, STATE_STOPPED);
    return thread;
}

int sim_process_new(struct sim *sim, int parent, const char *name)
{
    int proc = 0;

    while (proc < SIM_PROCS && sim->procs[proc].used) {
        proc++;
    }
    if (proc == SIM_PROCS) {
        return -1;
    }
    sim->procs[proc] = (struct sim_proc){.used = true,
                                         .pid = proc + 1 +
                                                (int32_t)(sim->procs[proc].generation % 2) *
                                                    SIM_PROCS, /* so that pids come again soon */
                                         .generation = sim->procs[proc].generation,
                                         .instance = sim->instances++,
                                         .parent = parent,
                                         .ender = -1,
                                         .unblock = sim_chance(sim, 30),
                                         .killer = TRUTH_NONE,
                                         .name = name};
    for (unsigned i = 0; i < SIM_TIDS + SIM_CPUS_MOST; i++) {
        sim->procs[proc].thread_of_tid[i] = -1;
    }
    for (unsigned i = 0; i < SIM_OBJECTS; i++) {
        sim->procs[proc].mutexes[i].owner = SIM_FREE;
    }
    return proc;
}

int sim_thread_create(struct sim *sim, int self)
{
    const struct sim_thread *t = &sim->threads[self];
    uint8_t priority = (uint8_t)t->call.other;
    int thread = sim->procs[t->proc].dying ? -1 : life_start(sim, t->proc, priority);

    if (thread < 0) {
        return life_result(sim, self, 0, LIFE_EAGAIN);
    }
    sim->threads[thread].detached = t->call.all;
    sim_wake(sim, thread, 0, 0);
    return life_result(sim, self, sim->threads[thread].tid, 0);
}

int sim_spawn(struct sim *sim, int self)
{
    static const char *const names[] = {"server", "client", "driver", "shell"};
    const char *name = names[sim_below(sim, 4)];
    int self_proc = sim->threads[self].proc, proc = sim_process_new(sim, self_proc, name), thread;
    uint32_t event, words[SIM_WORDS] = {(uint32_t)sim->procs[self_proc].pid};

    if (proc < 0) {
        return life_result(sim, self, 0, LIFE_EAGAIN);
    }
    words[1] = (uint32_t)sim->procs[proc].pid;
    event = sim_event(sim, sim->on, TRACE_CLASS_PR_TH, PR_TH_PROC_CREATED, words, 2);
    sim->events[event].text = name;
    sim->procs[proc].named = event;
    thread = life_start(sim, proc, (uint8_t)sim->threads[self].call.other);
    if (thread < 0) { /* no slot is free: the process ends as it began */
        sim_event2(sim, sim->on, TRACE_CLASS_PR_TH, PR_TH_PROC_DESTROYED, words[0], words[1]);
        sim->procs[proc].used = false;
        sim->procs[proc].generation++;
        return life_result(sim, self, 0, LIFE_EAGAIN);
    }
    sim_wake(sim, thread, 0, 0);
    return life_result(sim, self, sim->procs[proc].pid, 0);
}

/* ---- the end of a thread ----------------------------------------------------------- */

static void life_free(struct sim *sim, int thread)
{
    struct sim_thread *t = &sim->threads[thread];

    sim->procs[t->proc].thread_of_tid[t->tid - 1] = -1;
    t->used = false;
    t->generation++;
}

static bool life_elsewhere(const struct sim *sim, int thread)
{
    return sim->threads[thread].cpu >= 0 && sim->threads[thread].cpu != (int)sim->on;
}

/* Takes the thread out of all queues, and clears the references to it. */
static void life_release(struct sim *sim, int thread)
{
    struct sim_thread *t = &sim->threads[thread];
    int owner = t->owner;

    t->timed = t->deferred = false;
    t->owner = -1;
    if (t->state == STATE_RECEIVE) {
        sim_event2(sim, sim->on, TRACE_CLASS_COMM, COMM_REC_MESSAGE, ~0u, ~0u);
    }
    if (t->state == STATE_MUTEX && owner >= 0) {
        t->state = STATE_STOPPED; /* it inherits no more */
        sim_inherit(sim, owner);
    }
    for (unsigned line = 0; line < SIM_LINES; line++) {
        sim->attached[line] = sim->attached[line] == thread ? -1 : sim->attached[line];
    }
    for (int i = 0; i < SIM_THREADS; i++) {
        if (sim->threads[i].joiner == thread) {
            sim->threads[i].joiner = -1;
        }
    }
    if (t->state != STATE_SEND && t->state != STATE_REPLY) {
        t->state = STATE_STOPPED;
    }
    sim_message_thread_gone(sim, thread);
    sim_owner_gone(sim, thread);
    t->state = STATE_STOPPED;
    t->again = false;
}

static bool life_waits_for(const struct sim_thread *t, int parent, int32_t pid)
{
    return t->used && t->proc == parent && t->state == STATE_WAITTHREAD &&
           (t->call.words[0] == 0 || (int32_t)t->call.words[0] == pid);
}

static void life_process_gone(struct sim *sim, int proc)
{
    struct sim_proc *p = &sim->procs[proc];
    int parent = p->parent;

    sim_event2(sim, sim->on, TRACE_CLASS_PR_TH, PR_TH_PROC_DESTROYED,
               (uint32_t)(parent >= 0 ? sim->procs[parent].pid : 0), (uint32_t)p->pid);
    for (int i = 0; i < SIM_THREADS; i++) {
        struct sim_thread *t = &sim->threads[i];

        if (t->used && t->proc == proc) {
            life_free(sim, i); /* DEAD, not joined */
        } else if (t->used && t->state == STATE_WAITCTX && t->call.number == CALL_SIGNAL_KILL &&
                   t->call.proc == proc) {
            sim_wake(sim, i, 0, 0);
        }
    }
    for (int i = 0; i < SIM_PROCS; i++) {
        if (sim->procs[i].used && sim->procs[i].parent == proc) {
            sim->procs[i].parent = 1;
        }
    }
    for (int i = 0; parent >= 0 && i < SIM_THREADS; i++) {
        if (life_waits_for(&sim->threads[i], parent, p->pid)) {
            sim_wake(sim, i, p->pid, 0);
            break;
        }
    }
    p->used = false;
    p->generation++;
}

static void life_die(struct sim *sim, int thread, bool by_itself)
{
    struct sim_thread *t = &sim->threads[thread];
    struct sim_proc *proc = &sim->procs[t->proc];
    struct truth_thread *life = &sim->truth->threads[t->life];
    int joiner = t->joiner, index = t->proc;
    uint32_t event;

    if (t->cpu >= 0) {
        sim->cpus[t->cpu].current = SIM_NOBODY;
        sim->cpus[t->cpu].resched = true;
        t->cpu = -1;
    }
    if (by_itself) {
        sim_cause(sim, TRUTH_END_SELF, t->life, t->life);
    }
    event = sim_state(sim, thread, STATE_DEAD);
    sim_client_end(sim, thread, TRUTH_MESSAGE_CLIENT_DEATH, event);
    if (!by_itself && t->call.number != SIM_NO_CALL) {
        sim_aborted(sim, thread, sim->on);
    }
    event = sim_event2(sim, sim->on, TRACE_CLASS_PR_TH, PR_TH_DESTROYED, (uint32_t)proc->pid,
                       (uint32_t)t->tid);
    life->to = sim->events[event].time;
    life->ended = event;
    t->next_set = false;
    if (t->traced_cpu < 0) {
        sim_span_end(sim, thread, event);
    }
    sim_cause(sim, TRUTH_END_DEATH, t->life, by_itself ? t->life : sim->cause.actor);
    t->joiner = -1;
    if (joiner >= 0) {
        sim_wake(sim, joiner, 0, 0);
    }
    if (joiner >= 0 || proc->dying || t->detached) {
        life_free(sim, thread);
    }
    if (--proc->nthreads == 0) {
        life_process_gone(sim, index);
    } else if (proc->nthreads == 1 && proc->ender >= 0 &&
               sim->threads[proc->ender].state == STATE_WAITCTX) {
        sim_wake(sim, proc->ender, 0, 0);
    }
}

static uint8_t life_end_priority(const struct sim *sim, int proc)
{
    uint8_t highest = 0;

    for (int i = 0; i < SIM_THREADS; i++) {
        const struct sim_thread *t = &sim->threads[i];

        if (t->used && t->proc == proc && t->state != STATE_DEAD && t->priority > highest) {
            highest = t->priority;
        }
    }
    return highest;
}

/* The thread ends its process from now on. */
static void life_become_ender(struct sim *sim, int thread, bool by_itself)
{
    struct sim_thread *t = &sim->threads[thread];
    struct sim_cpu *c = &sim->cpus[sim->on];
    int was = t->state;

    life_release(sim, thread);
    sim->procs[t->proc].dying = true;
    sim->procs[t->proc].ender = thread;
    t->message_priority = t->sync_priority = 0;
    t->call_priority = t->priority = life_end_priority(sim, t->proc);
    t->call.number = by_itself ? SIM_NO_CALL : t->call.number;
    t->aborted = !by_itself && t->call.number != SIM_NO_CALL;
    t->timeout_states = 0;
    t->dying = false;
    t->ending = true;
    if (c->current != thread) {
        sim_state(sim, thread, STATE_READY);
        sim_client_end(sim, thread, TRUTH_MESSAGE_CLIENT_DEATH, sim->nevents - 1);
        sim_ready(sim, thread);
        t->order = 0;
        return;
    }
    t->state = STATE_RUNNING;
    if (was > STATE_READY) { /* it blocked, and its end came before it left the CPU */
        sim_state(sim, thread, STATE_READY);
        sim_client_end(sim, thread, TRUTH_MESSAGE_CLIENT_DEATH, sim->nevents - 1);
    }
    if (was != STATE_RUNNING) {
        sim_cause(sim, TRUTH_END_RUN, TRUTH_NONE, TRUTH_NONE);
        sim_running(sim, sim->on, thread);
    }
    c->resched = true;
}

void sim_thread_end(struct sim *sim, int thread)
{
    struct sim_thread *t = &sim->threads[thread];
    struct sim_proc *proc = &sim->procs[t->proc];
    bool by_itself = sim->cpus[sim->on].current == thread && !t->dying;

    if (!t->used || t->state == STATE_DEAD || thread == proc->ender) {
        return;
    }
    if (life_elsewhere(sim, thread)) {
        t->dying = true;
        t->killer = sim->cause.by;
        sim->cpus[t->cpu].resched = sim->cpus[t->cpu].ipi = true;
        return;
    }
    if (proc->ender < 0 && (proc->dying || proc->nthreads == 1)) {
        life_become_ender(sim, thread, by_itself);
        return;
    }
    life_release(sim, thread);
    life_die(sim, thread, by_itself);
}

/* ---- the end of a process ---------------------------------------------------------- */

/* A thread of the process that was not asked to end; one that doesn't run first. */
static int life_next_to_end(const struct sim *sim, int proc)
{
    int found = -1;

    for (int i = 0; i < SIM_THREADS; i++) {
        const struct sim_thread *t = &sim->threads[i];

        if (!t->used || t->proc != proc || t->state == STATE_DEAD || t->dying ||
            i == sim->procs[proc].ender) {
            continue;
        }
        found = i;
        if (t->state != STATE_RUNNING) {
            break;
        }
    }
    return found;
}

int sim_end_step(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    struct sim_proc *proc = &sim->procs[t->proc];
    int other = proc->nthreads > 1 ? life_next_to_end(sim, t->proc) : -1;

    if (other >= 0) {
        sim_cause(sim, TRUTH_END_KILL, proc->killer == TRUTH_NONE ? t->life : proc->killer,
                  t->life);
        sim_thread_end(sim, other);
        return SIM_DONE;
    }
    if (proc->nthreads > 1) {
        sim_block(sim, self, STATE_WAITCTX);
        return SIM_BLOCKED;
    }
    for (int i = 0; i < SIM_THREADS; i++) {
        const struct sim_thread *client = &sim->threads[i];

        if (client->used && client->message != TRUTH_NONE && client->target == t->proc) {
            sim_cause(sim, TRUTH_END_DEATH, t->life, t->life);
            sim_message_process_gone(sim, t->proc);
            return SIM_DONE;
        }
    }
    t->ending = false;
    life_die(sim, self, true);
    return SIM_GONE;
}

static void life_process_end(struct sim *sim, int proc, int by)
{
    struct sim_proc *p = &sim->procs[proc];
    int current = sim->cpus[sim->on].current;
    int t = current != SIM_NOBODY && sim->threads[current].proc == proc
                ? current
                : life_next_to_end(sim, proc);

    if (p->dying) {
        return;
    }
    p->dying = true;
    p->killer = by < 0 ? TRUTH_NONE : sim->threads[by].life;
    for (; t >= 0 && p->ender < 0; t = life_next_to_end(sim, proc)) {
        sim_thread_end(sim, t);
    }
    for (unsigned cpu = 0; cpu < sim->options.cpus; cpu++) {
        t = sim->cpus[cpu].current;
        if (t != SIM_NOBODY && t != current && t != p->ender && sim->threads[t].proc == proc) {
            sim_thread_end(sim, t);
        }
    }
}

int sim_destroy(struct sim *sim, int self)
{
    int thread = sim->threads[self].call.thread;
    const struct sim_thread *t = &sim->threads[thread];

    if (!t->used || t->state == STATE_DEAD || t->proc != sim->threads[self].proc ||
        t->generation != sim->threads[self].call.words[2]) {
        return life_result(sim, self, 0, LIFE_ESRCH);
    }
    if (thread != self) {
        sim_cause(sim, TRUTH_END_KILL, sim->threads[self].life, sim->threads[self].life);
    }
    life_result(sim, self, 0, 0);
    sim_thread_end(sim, thread);
    return thread == self ? SIM_GONE : SIM_DONE;
}

int sim_join(struct sim *sim, int self)
{
    int thread = sim->threads[self].call.thread;
    struct sim_thread *t = &sim->threads[thread];

    if (!t->used || t->proc != sim->threads[self].proc || t->detached || t->joiner >= 0 ||
        thread == self || t->generation != sim->threads[self].call.words[2]) {
        return life_result(sim, self, 0, LIFE_ESRCH);
    }
    if (t->state == STATE_DEAD) {
        life_free(sim, thread);
        return life_result(sim, self, 0, 0);
    }
    sim_block(sim, self, STATE_JOIN);
    t->joiner = self;
    return SIM_BLOCKED;
}

int sim_process_exit(struct sim *sim, int self)
{
    life_process_end(sim, sim->threads[self].proc, -1);
    return SIM_GONE;
}

int sim_kill(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    int proc = t->call.proc;
    bool own = proc == t->proc;

    if (!sim->procs[proc].used || sim->procs[proc].generation != t->call.words[2]) {
        return life_result(sim, self, 0, LIFE_ESRCH);
    }
    sim_event(sim, sim->on, TRACE_CLASS_COMM, COMM_SIGNAL,
              (uint32_t[]){LIFE_SIGKILL, 0, 0, (uint32_t)sim->procs[proc].pid,
                           (uint32_t)sim->procs[t->proc].pid},
              5);
    sim_cause(sim, TRUTH_END_KILL, t->life, t->life);
    life_process_end(sim, proc, self);
    if (own) {
        return SIM_GONE;
    }
    if (!sim->procs[proc].used) {
        return life_result(sim, self, 0, 0);
    }
    sim_block(sim, self, STATE_WAITCTX);
    return SIM_BLOCKED;
}

int sim_wait_child(struct sim *sim, int self)
{
    const struct sim_thread *t = &sim->threads[self];

    for (int i = 2; i < SIM_PROCS; i++) {
        if (sim->procs[i].used && sim->procs[i].parent == t->proc) {
            sim_block(sim, self, STATE_WAITTHREAD);
            return SIM_BLOCKED;
        }
    }
    return life_result(sim, self, 0, LIFE_CHILD);
}

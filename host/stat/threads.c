/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads: the sums of what the flow gives of them. A row is one life of a thread, as in all tools:
 * a pid and a tid that are used again are another row. Proof: test/host/stat/known_test.c,
 * test/host/stat/stat_test.c, test/host/stat/why.py.
 */
#include <stdlib.h>
#include <string.h>

#include "host/escape.h"
#include "host/pr_th.h"
#include "host/stat/stat.h"

/* ---- processes ----------------------------------------------------------------------- */

static struct process *stat_threads_process_make(struct stat *stat, int32_t pid)
{
    struct process **latest = map_get(&stat->processes, (uint32_t)pid), *process;

    if (latest == NULL) {
        latest = map_make(&stat->processes, (uint32_t)pid);
    }
    if (latest == NULL || (stat->nprocesses >= STAT_THREADS && *latest == NULL)) {
        stat->overflow++;
        return NULL;
    }
    if (stat->nprocesses >= STAT_THREADS) { /* its lives are one from here on */
        stat->overflow++;
        return *latest;
    }
    process = kymo_memory(calloc(1, sizeof(*process)));
    *process = (struct process){
        .pid = pid, .index = ++stat->nprocesses, .met = stat->last, .older = stat->newest};
    stat->newest = *latest = process;
    return process;
}

struct process *process_get(struct stat *stat, int32_t pid)
{
    struct process **latest = map_get(&stat->processes, (uint32_t)pid);

    return latest != NULL && *latest != NULL ? *latest : stat_threads_process_make(stat, pid);
}

const char *process_name(const struct process *process)
{
    return process != NULL && process->named ? process->name : "?";
}

static void text_take(char to[64], const struct kev_event *event, unsigned word)
{
    const char *from = (const char *)(event->words + word);
    size_t len = event->nwords > word ? strnlen(from, 4 * (event->nwords - word)) : 0;

    char one[4];
    size_t used = 0;

    for (unsigned taken; len > 0; from += taken, len -= taken) {
        unsigned n = escape_line_char(one, from, len, &taken);
        if (used + n > 63) {
            break;
        }
        memcpy(to + used, one, n);
        used += n;
    }
    to[used] = '\0';
}

/* A process that is made, other than by a state dump, is another one than that which had the pid
 * before, as host/kev/life.c has it. */
static struct process *stat_threads_process_of(struct stat *stat, const struct kev_event *event,
                                               bool made)
{
    struct process *process = process_get(stat, (int32_t)kev_word(event, 1));
    bool again = stat->marked && !event->dumped && !event->injected && made;

    if (process != NULL &&
        ((made && process->destroyed) || (again && process->met < event->time))) {
        process = stat_threads_process_make(stat, process->pid);
    }
    return process;
}

static void process_event(struct stat *stat, const struct kev_event *event, unsigned number)
{
    bool made = number == PR_TH_PROCCREATE || number == PR_TH_PROCCREATE_NAME;
    struct process *process = stat_threads_process_of(stat, event, made);

    if (process == NULL) {
        return;
    }
    process->ppid = (int32_t)kev_word(event, 0);
    if (number == PR_TH_PROCCREATE_NAME || number == PR_TH_PROCDESTROY_NAME) {
        text_take(process->name, event, 2);
        process->named = process->name[0] != '\0';
    }
    process->destroyed = number == PR_TH_PROCDESTROY || number == PR_TH_PROCDESTROY_NAME;
}

/* ---- threads ------------------------------------------------------------------------- */

static uint64_t thread_key(int32_t pid, int32_t tid)
{
    return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

struct thread *thread_find(const struct stat *stat, int32_t pid, int32_t tid)
{
    struct thread **latest = map_get(&stat->lives, thread_key(pid, tid));

    return latest == NULL ? NULL : *latest;
}

/* The process of a thread that begins: not one that has ended. */
static struct process *stat_threads_process(struct stat *stat, int32_t pid)
{
    struct process *process = process_get(stat, pid);

    return process != NULL && process->destroyed ? stat_threads_process_make(stat, pid) : process;
}

/* The latest life of a thread if it has not ended, else a new one. NULL: there are too many. */
static struct thread *stat_threads_get(struct stat *stat, int32_t pid, int32_t tid)
{
    struct thread *before = thread_find(stat, pid, tid), *thread, **latest;

    if (before != NULL && !before->gone) {
        return before;
    }
    if (stat->nthreads >= STAT_THREADS) {
        stat->overflow++;
        return before; /* its lives are one from here on */
    }
    latest = before != NULL ? map_get(&stat->lives, thread_key(pid, tid))
                            : map_make(&stat->lives, thread_key(pid, tid));
    if (stat->nthreads == stat->threads_room) {
        stat->threads = stat_grow(stat->threads, &stat->threads_room, sizeof(struct thread *));
    }
    thread = kymo_memory(calloc(1, sizeof(*thread)));
    *thread = (struct thread){.pid = pid,
                              .tid = tid,
                              .index = stat->nthreads,
                              .life = before == NULL ? 1 : before->life + 1,
                              .process = stat_threads_process(stat, pid),
                              .idle = stat_is_idle(stat, pid, tid),
                              .state = -1,
                              .cpu = -1,
                              .last_cpu = -1};
    stat->threads[stat->nthreads++] = *latest = thread;
    return thread;
}

struct thread *stat_thread_of(struct stat *stat, struct flow_thread *of)
{
    struct thread *thread;

    if (of->mark != FLOW_UNMARKED) {
        return stat->threads[of->mark];
    }
    thread = stat_threads_get(stat, of->pid, of->tid);
    if (thread != NULL) {
        thread->gone = false;
        of->mark = thread->index;
    }
    return thread;
}

void thread_named(struct stat *stat, const struct kev_event *event)
{
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64;
    struct thread *thread;

    if (number != PR_TH_PROCTHREAD_NAME) {
        if (number >= PR_TH_PROCCREATE) {
            process_event(stat, event, number);
        }
        return;
    }
    thread = stat_threads_get(stat, (int32_t)kev_word(event, 0), (int32_t)kev_word(event, 1));
    if (thread != NULL) {
        text_take(thread->name, event, 2);
    }
}

/* ---- what the flow gives ------------------------------------------------------------- */

void cpu_account(struct stat *stat, unsigned on, uint64_t now)
{
    struct cpu *cpu = &stat->cpus[on];
    uint64_t time = cpu->covered && now > cpu->since ? now - cpu->since : 0;
    uint64_t common = stat_common(stat, now);
    struct thread *current = cpu->current;

    if (stat->watch != NULL && time > 0) {
        stat->watch->ran(stat->watch->arg, on, current, cpu->since, now);
    }
    if (current == NULL) {
        cpu->unknown += time;
    } else {
        uint64_t ran = common > cpu->common_since ? common - cpu->common_since : 0;

        current->time[STATE_RUNNING] += ran;
        if (current->idle) {
            cpu->idle += time;
        } else {
            cpu->busy += time;
        }
        if (ran > 0 && current->clients != NULL) {
            serve_ran(stat, current, ran, now);
        }
    }
    cpu->since = now > cpu->since ? now : cpu->since;
    cpu->common_since = common;
}

static void stat_threads_met(void *arg, struct flow_thread *of, int64_t ns)
{
    struct stat *stat = arg;

    (void)of;
    (void)ns;
    stat->living++;
}

static void stat_threads_gone(void *arg, const struct flow_thread *of, int64_t ns)
{
    struct stat *stat = arg;

    (void)ns;
    stat->living--;
    if (of->mark != FLOW_UNMARKED) {
        stat->threads[of->mark]->gone = true;
    }
}

static void stat_threads_begin(void *arg, struct flow_thread *of, struct flow_state *state)
{
    struct stat *stat = arg;
    struct thread *thread = stat_thread_of(stat, of);

    if (state->state == STATE_RUNNING) {
        struct cpu *cpu = &stat->cpus[state->cpu];
        uint64_t now = stat_now(stat, state->since);

        if (cpu->since != now) { /* else up to here what ran before has been accounted */
            cpu_account(stat, (unsigned)state->cpu, now);
        }
        cpu->current = thread;
        stat->ncpus = (unsigned)state->cpu < stat->ncpus ? stat->ncpus : (unsigned)state->cpu + 1;
    }
    if (thread != NULL) {
        thread->state = state->state;
        thread->cpu = state->cpu;
    }
}

static void stat_threads_span(void *arg, const struct flow_thread *of,
                              const struct flow_state *state, int64_t to, bool ended)
{
    struct stat *stat = arg;
    struct thread *thread = of->mark == FLOW_UNMARKED ? NULL : stat->threads[of->mark];
    uint64_t from = stat_now(stat, state->since), until = stat_now(stat, to);

    (void)ended;
    if (state->state == STATE_RUNNING) {
        cpu_account(stat, (unsigned)state->cpu, until);
        stat->cpus[state->cpu].current = NULL;
    }
    if (thread == NULL) {
        return;
    }
    if (state->state == STATE_RUNNING) {
        thread->cpu = -1;
        thread->last_cpu = state->cpu;
        thread->last_epoch = stat->epoch;
    } else {
        thread->time[state->state] += until - from;
        if (stat->watch != NULL && from < until) {
            stat->watch->waited(stat->watch->arg, thread, (unsigned)state->state, from, until);
        }
    }
    thread->state = -1;
}

const struct flow_ops stat_flow_ops = {.thread = stat_threads_met,
                                       .gone = stat_threads_gone,
                                       .begin = stat_threads_begin,
                                       .span = stat_threads_span,
                                       .abandon = message_abandoned,
                                       .cpu = stat_cover_cpu,
                                       .covered = stat_cover_all};

/* ---- events -------------------------------------------------------------------------- */

static void thread_moves(struct stat *stat, struct thread *thread, unsigned on, uint64_t now)
{
    bool seen = thread->last_cpu >= 0 && stat_known_since(stat, thread->last_epoch);

    thread->runs++;
    thread->migrations += seen && thread->last_cpu != (int)on;
    if (stat->watch != NULL) {
        stat->watch->moved(stat->watch->arg, thread, seen ? thread->last_cpu : -1, on, now);
    }
    thread->last_cpu = (int)on;
    thread->last_epoch = stat->epoch;
}

/* A message of a client that is not known may have been handed over here. */
static void stat_threads_unknown_client(struct stat *stat, struct thread *thread, unsigned on,
                                        unsigned number, uint64_t now)
{
    struct cpu *cpu = &stat->cpus[on];

    if (cpu->handed_to != 0 && number == STATE_READY && thread->pid == cpu->handed_to) {
        serve_unknown(stat, thread, now);
    }
    cpu->handed_to = 0;
}

static void thread_stepped(struct stat *stat, const struct kev_event *event, unsigned number,
                           struct flow_step *step)
{
    bool unmet = step->thread != NULL && step->thread->mark == FLOW_UNMARKED;
    struct thread *thread = step->thread == NULL ? NULL : stat_thread_of(stat, step->thread);
    uint64_t now = stat_now(stat, step->ns);

    if (number == STATE_RUNNING) {
        /* No interrupt's first part is left for a thread: the exit of what is open is not here, as
         * that of an interrupt that came while the recording began. */
        stat->cpus[event->cpu].depth = 0;
    }
    if (thread == NULL) {
        return;
    }
    thread->gone |= unmet && number == PR_TH_DESTROY;
    if (step->switched) {
        thread_moves(stat, thread, event->cpu, now);
    }
    stat_threads_unknown_client(stat, thread, event->cpu, number, now);
    if (step->message == FLOW_RECEIVED) {
        message_handed(stat, step, now);
    }
}

/* The flow follows no more threads than there may be rows. */
static bool stat_threads_fit(const struct stat *stat, const struct kev_event *event)
{
    const struct thread *thread =
        stat->living < STAT_THREADS
            ? NULL
            : thread_find(stat, (int32_t)kev_word(event, 0), (int32_t)kev_word(event, 1));

    return stat->living < STAT_THREADS || (thread != NULL && !thread->gone);
}

void thread_event(struct stat *stat, const struct kev_event *event)
{
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64;
    struct flow_step step;

    stat->marked |= event->dumped;
    if (number >= PR_TH_VTHREADS) {
        if (number == PR_TH_PROCCREATE || number == PR_TH_PROCCREATE_NAME) {
            stat_flow_take(stat, event, NULL, &step);
        }
        thread_named(stat, event);
    } else if (stat_threads_fit(stat, event)) {
        stat_flow_take(stat, event, NULL, &step);
        thread_stepped(stat, event, number, &step);
    } else {
        stat->overflow++;
    }
}

void threads_finish(struct stat *stat)
{
    for (uint32_t i = 0; i < stat->nthreads; i++) {
        const struct thread *thread = stat->threads[i];

        if (thread->process != NULL) {
            thread->process->running += stat_thread_running(stat, thread);
        }
    }
}

void stat_threads_free(struct stat *stat)
{
    for (uint32_t i = 0; i < stat->nthreads; i++) {
        free(stat->threads[i]);
    }
    free(stat->threads);
    while (stat->newest != NULL) {
        struct process *process = stat->newest;

        stat->newest = process->older;
        free(process);
    }
    map_free(&stat->lives);
    map_free(&stat->processes);
}

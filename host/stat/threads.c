/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads: who ran where how long, and how long each was in which state. A thread runs from its
 * THRUNNING on a CPU until the next THRUNNING there; a state it takes on while it is still current
 * (it has just blocked) begins when it leaves the CPU.
 */
#include <string.h>

#include "host/stat/stat.h"

#define EVENT_CREATE 24
#define EVENT_DESTROY 25
#define EVENT_PROCCREATE 64
#define EVENT_PROCDESTROY 128
#define EVENT_PROCCREATE_NAME 192
#define EVENT_PROCDESTROY_NAME 256
#define EVENT_PROCTHREAD_NAME 320

static uint64_t thread_key(int32_t pid, int32_t tid)
{
    return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

struct thread *thread_get(struct stat *stat, int32_t pid, int32_t tid)
{
    struct thread *thread = map_get(&stat->threads, thread_key(pid, tid));

    if (thread == NULL) {
        thread = map_make(&stat->threads, thread_key(pid, tid));
        if (thread == NULL) {
            stat->overflow++;
            return NULL;
        }
        thread->pid = pid;
        thread->tid = tid;
        thread->state = -1;
        thread->cpu = -1;
        thread->last_cpu = -1;
    }
    return thread;
}

struct process *process_get(struct stat *stat, int32_t pid)
{
    struct process *process = map_get(&stat->processes, (uint32_t)pid);

    if (process == NULL) {
        process = map_make(&stat->processes, (uint32_t)pid);
        if (process == NULL) {
            stat->overflow++;
            return NULL;
        }
        process->pid = pid;
    }
    return process;
}

const char *process_name(struct stat *stat, int32_t pid)
{
    struct process *process = map_get(&stat->processes, (uint32_t)pid);

    return process != NULL && process->named ? process->name : "?";
}

static void text_take(char to[64], const struct kev_event *event, unsigned word)
{
    const char *from = (const char *)(event->words + word);
    size_t len = event->nwords > word ? strnlen(from, 4 * (event->nwords - word)) : 0;

    len = len < 63 ? len : 63;
    for (size_t i = 0; i < len; i++) {
        to[i] = from[i] >= ' ' && from[i] < 0x7f ? from[i] : '?';
    }
    to[len] = '\0';
}

static uint64_t span(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* The CPU's current thread's time up to now. */
static void cpu_account(struct cpu *cpu, uint64_t now)
{
    uint64_t time = span(cpu->since, now);

    if (cpu->current == NULL) {
        cpu->unknown += cpu->seen ? time : 0;
    } else {
        cpu->current->time[STATE_RUNNING] += time;
        if (cpu->current->pid == STAT_IDLE_PID) {
            cpu->idle += time;
        } else {
            cpu->busy += time;
        }
    }
    cpu->since = now;
}

static void cpu_leave(struct cpu *cpu, uint64_t now)
{
    struct thread *thread = cpu->current;

    cpu_account(cpu, now);
    cpu->current = NULL;
    if (thread != NULL) {
        thread->cpu = -1;
        thread->since = now;
        if (thread->state == STATE_RUNNING) {
            thread->state = STATE_READY;
        }
    }
}

static void state_account(struct thread *thread, uint64_t now)
{
    if (thread->cpu < 0 && thread->state >= 0) {
        thread->time[thread->state] += span(thread->since, now);
    }
    thread->since = now;
}

static void thread_runs(struct stat *stat, struct thread *thread, unsigned on, uint64_t now)
{
    struct cpu *cpu = &stat->cpus[on];

    if (cpu->current != thread) {
        if (thread->cpu >= 0) {
            cpu_leave(&stat->cpus[thread->cpu], now);
        }
        cpu_leave(cpu, now);
        state_account(thread, now);
        thread->runs++;
        thread->migrations += thread->last_cpu >= 0 && thread->last_cpu != (int)on;
        thread->last_cpu = (int)on;
        thread->cpu = (int)on;
        cpu->current = thread;
        cpu->seen = true;
    }
    thread->state = STATE_RUNNING;
}

static void thread_state(struct stat *stat, struct thread *thread, const struct kev_event *event,
                         unsigned state)
{
    if (state == STATE_RUNNING) {
        thread_runs(stat, thread, event->cpu, event->time);
        return;
    }
    state_account(thread, event->time);
    if (state == EVENT_DESTROY) {
        thread->destroyed = true;
        thread->state = -1;
    } else if (state < EVENT_CREATE) {
        thread->state = (int)state;
    }
}

static void process_event(struct stat *stat, const struct kev_event *event, unsigned number)
{
    struct process *process = process_get(stat, (int32_t)kev_word(event, 1));

    if (process == NULL) {
        return;
    }
    process->ppid = (int32_t)kev_word(event, 0);
    if (number == EVENT_PROCCREATE_NAME || number == EVENT_PROCDESTROY_NAME) {
        text_take(process->name, event, 2);
        process->named = process->name[0] != '\0';
    }
    process->destroyed = number == EVENT_PROCDESTROY || number == EVENT_PROCDESTROY_NAME;
}

void thread_event(struct stat *stat, const struct kev_event *event)
{
    unsigned number = event->number & ~TRACE_EVENT_64;
    struct thread *thread;

    if (number != EVENT_PROCTHREAD_NAME && number >= EVENT_PROCCREATE) {
        process_event(stat, event, number);
        return;
    }
    if (number > EVENT_DESTROY && number != EVENT_PROCTHREAD_NAME) {
        return;
    }
    thread = thread_get(stat, (int32_t)kev_word(event, 0), (int32_t)kev_word(event, 1));
    if (thread == NULL) {
        return;
    }
    if (number == EVENT_PROCTHREAD_NAME) {
        text_take(thread->name, event, 2);
    } else {
        thread_state(stat, thread, event, number);
    }
}

/* The end of the capture ends every state. */
void threads_finish(struct stat *stat)
{
    for (unsigned i = 0; i < KEV_CPUS; i++) {
        cpu_account(&stat->cpus[i], stat->last);
    }
    for (uint32_t i = 0; i < stat->threads.slots; i++) {
        if (stat->threads.values[i] != NULL) {
            state_account(stat->threads.values[i], stat->last);
        }
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads: who ran where how long, and how long each was in which state. A thread runs from its
 * THRUNNING on a CPU until the next THRUNNING there; a state that it takes on while it is still
 * current (it has just blocked) begins when it leaves the CPU. Nothing is carried over a gap in the
 * coverage (stat.h): what is not known is in no state's time. Proof: test/host/stat/known_test.c.
 */
#include <string.h>

#include "host/escape.h"
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
        thread->index = stat->threads.count;
        thread->state = -1;
        thread->cpu = -1;
        thread->last_cpu = -1;
        thread->held = -1;
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

static uint64_t stat_threads_span_cycles(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

void cpu_account(struct stat *stat, unsigned on, uint64_t now)
{
    struct cpu *cpu = &stat->cpus[on];
    uint64_t time = cpu->covered ? stat_threads_span_cycles(cpu->since, now) : 0;
    uint64_t common = stat_common(stat, now);
    struct thread *current = cpu->current;

    if (stat->watch != NULL && time > 0) {
        stat->watch->ran(stat->watch->arg, on, current, cpu->since, now);
    }
    if (current == NULL) {
        cpu->unknown += time;
    } else {
        uint64_t ran = stat_threads_span_cycles(cpu->common_since, common);

        current->time[STATE_RUNNING] += ran;
        if (stat_is_idle(stat, current->pid, current->tid)) {
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

void cpu_forget(struct stat *stat, unsigned on, uint64_t now)
{
    struct cpu *cpu = &stat->cpus[on];
    struct thread *thread = cpu->current;

    cpu_account(stat, on, now);
    cpu->current = NULL;
    cpu->handed = NULL;
    cpu->handed_to = 0;
    if (thread != NULL) {
        thread->cpu = -1;
        thread->state = -1;
        thread->last_epoch = stat->epoch;
    }
}

/* The thread that was current leaves its CPU for another one. Which state that it has since taken
 * on is known if it was seen; a thread that leaves without is in a state that was not recorded. */
static void stat_threads_leave_cpu(struct stat *stat, unsigned on, uint64_t now)
{
    struct thread *thread = stat->cpus[on].current;
    int state = thread == NULL ? -1 : thread->state;

    cpu_forget(stat, on, now);
    if (thread != NULL && state != STATE_RUNNING && thread->epoch == stat->epoch) {
        thread->state = state;
    }
    if (thread != NULL) {
        thread->since = stat_common(stat, now);
        thread->held = -1;
    }
}

/* Returns the latest time at which the state can have begun. */
static uint64_t state_since(const struct stat *stat, const struct thread *thread, uint64_t now)
{
    const struct cpu *cpu;

    if (thread->held < 0) {
        return thread->since;
    }
    cpu = &stat->cpus[thread->held];
    if (cpu->nknown == thread->held_known) {
        return now;
    }
    return cpu->known[thread->held_known] > thread->since ? cpu->known[thread->held_known]
                                                          : thread->since;
}

/* Until now, or until the state was no longer known. */
static void state_account(struct stat *stat, struct thread *thread, uint64_t now)
{
    uint64_t common = stat_common(stat, now);

    if (thread->cpu >= 0) {
        return;
    }
    if (thread->state >= 0) {
        uint64_t until = thread->epoch == stat->epoch ? common : stat->epochs[thread->epoch + 1];

        uint64_t from = state_since(stat, thread, common);

        thread->time[thread->state] += stat_threads_span_cycles(from, until);
        if (stat->watch != NULL && from < until) {
            stat->watch->waited(stat->watch->arg, thread, (unsigned)thread->state, thread->epoch,
                                from, until);
        }
        if (thread->epoch != stat->epoch) {
            thread->state = -1;
        }
    }
    thread->since = common;
    if (thread->held >= 0 && stat->cpus[thread->held].nknown != thread->held_known) {
        thread->held = -1;
    }
}

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

static void stat_cpu_known(struct stat *stat, struct cpu *cpu, uint64_t now)
{
    if (cpu->nknown == cpu->known_room) {
        cpu->known = stat_grow(cpu->known, &cpu->known_room, sizeof(*cpu->known));
    }
    cpu->known[cpu->nknown++] = stat_common(stat, now);
}

void cpu_told(struct stat *stat, unsigned on, uint64_t now)
{
    struct cpu *cpu = &stat->cpus[on];
    struct thread *thread = cpu->told;

    if (thread == NULL || thread->cpu >= 0 || cpu->current != NULL) {
        return;
    }
    state_account(stat, thread, now);
    thread->cpu = (int)on;
    thread->state = STATE_RUNNING;
    thread->held = -1;
    thread->epoch = thread->last_epoch = stat->epoch;
    thread->last_cpu = (int)on;
    cpu->current = thread;
    stat_cpu_known(stat, cpu, now);
}

static void stat_threads_run(struct stat *stat, struct thread *thread, unsigned on, uint64_t now)
{
    struct cpu *cpu = &stat->cpus[on];
    bool known = cpu->current != NULL;

    /* No interrupt's first part is left for a thread: the exit of what is open is not here, as
     * that of an interrupt that came while the recording began. */
    cpu->depth = 0;
    if (cpu->current != thread) {
        if (thread->cpu >= 0) {
            stat_threads_leave_cpu(stat, (unsigned)thread->cpu, now);
        }
        stat_threads_leave_cpu(stat, on, now);
        state_account(stat, thread, now);
        thread_moves(stat, thread, on, now);
        if (!cpu->covered) { /* how long it runs is not known */
            thread->state = -1;
            return;
        }
        thread->cpu = (int)on;
        cpu->current = thread;
    }
    if (!known) {
        stat_cpu_known(stat, cpu, now);
    }
    thread->state = STATE_RUNNING;
    thread->held = -1;
    thread->epoch = stat->epoch;
}

/* The thread of the server that has just been handed a message. */
static void thread_handed(struct stat *stat, struct thread *thread, const struct kev_event *event,
                          unsigned state)
{
    struct cpu *cpu = &stat->cpus[event->cpu];
    struct thread *client = cpu->handed;
    bool handed = cpu->handed_to != 0 && state == STATE_READY && thread->pid == cpu->handed_to;

    cpu->handed = NULL;
    cpu->handed_to = 0;
    if (handed && client == NULL) {
        serve_unknown(stat, thread, event->time);
    } else if (handed) {
        struct open_send *send = map_get(&stat->sends, thread_key(client->pid, client->tid));

        serve_begin(stat, thread, client, event->time);
        if (send != NULL && send->pair != NULL) {
            send->server_tid = thread->tid;
        }
    }
}

static void thread_state(struct stat *stat, struct thread *thread, const struct kev_event *event,
                         unsigned state)
{
    thread_handed(stat, thread, event, state);
    if (state == STATE_RUNNING) {
        stat_threads_run(stat, thread, event->cpu, event->time);
        return;
    }
    if (state == EVENT_CREATE && !thread->destroyed) {
        return; /* of the dump of the state: the thread was there before */
    }
    if (state == STATE_READY || state == STATE_DEAD || state >= EVENT_CREATE) {
        message_over(stat, thread, event->time);
    }
    state_account(stat, thread, event->time);
    if (state >= EVENT_CREATE) {
        if (state == EVENT_CREATE && thread->cpu >= 0) {
            cpu_forget(stat, (unsigned)thread->cpu, event->time);
        }
        thread->destroyed = state == EVENT_DESTROY;
        thread->state = -1;
    } else {
        const struct cpu *cpu = &stat->cpus[event->cpu];
        bool elsewhere = thread->state >= 0 && thread->held < 0; /* it is not current on that CPU */

        thread->state = (int)state;
        thread->held = cpu->current == NULL && !elsewhere ? event->cpu : -1;
        thread->held_known = cpu->nknown;
    }
    thread->epoch = stat->epoch;
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

bool thread_named(struct stat *stat, const struct kev_event *event)
{
    unsigned number = event->number & ~TRACE_EVENT_64;
    struct thread *thread;

    if (number != EVENT_PROCTHREAD_NAME) {
        if (number >= EVENT_PROCCREATE) {
            process_event(stat, event, number);
        }
        return number >= EVENT_PROCCREATE;
    }
    thread = thread_get(stat, (int32_t)kev_word(event, 0), (int32_t)kev_word(event, 1));
    if (thread != NULL) {
        text_take(thread->name, event, 2);
    }
    return true;
}

void thread_event(struct stat *stat, const struct kev_event *event)
{
    unsigned number = event->number & ~TRACE_EVENT_64;
    struct thread *thread;

    if (thread_named(stat, event) || number > EVENT_DESTROY) {
        return;
    }
    thread = thread_get(stat, (int32_t)kev_word(event, 0), (int32_t)kev_word(event, 1));
    if (thread != NULL) {
        thread_state(stat, thread, event, number);
    }
}

/* The end of the capture ends every state. */
void threads_finish(struct stat *stat)
{
    for (uint32_t i = 0; i < stat->threads.slots; i++) {
        struct thread *thread = stat->threads.values[i];

        if (thread != NULL) {
            struct process *process = process_get(stat, thread->pid);

            state_account(stat, thread, stat->last);
            if (process != NULL) {
                process->running += stat_thread_running(stat, thread);
            }
        }
    }
}

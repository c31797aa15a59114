/* SPDX-License-Identifier: BSD-2-Clause */
/* pidin's columns: like QNX's, with CPU time and the last CPU added. */
#include "apps/pidin/print.h"

#include <stdio.h>

#include "abi/sys/states.h"

#define BLOCKED_ON 24
#define CPU_TIME 32

static char policy_letter(int policy)
{
    return policy == SCHED_FIFO ? 'f' : policy == SCHED_RR ? 'r' : 'o';
}

static void blocked_on(const struct kymo_thread_info *thread, char text[BLOCKED_ON])
{
    unsigned long long on = thread->blocked_on;

    text[0] = '\0';
    switch (thread->state) {
    case STATE_SEND:
    case STATE_REPLY:
        snprintf(text, BLOCKED_ON, "%u ch %u", (unsigned)(on >> 32), (unsigned)on);
        break;
    case STATE_RECEIVE:
    case STATE_JOIN:
        snprintf(text, BLOCKED_ON, "%u", (unsigned)on);
        break;
    case STATE_MUTEX:
    case STATE_CONDVAR:
    case STATE_SEM:
        snprintf(text, BLOCKED_ON, "0x%llx", on);
        break;
    default:
        if (thread->pid == 1) {
            snprintf(text, BLOCKED_ON, "stack %u/%u", (unsigned)thread->stack_used,
                     (unsigned)thread->stack_bytes);
        }
        break;
    }
}

void print_threads_head(void)
{
    printf("%6s %3s %-20s %6s %-11s %3s %12s  %s\n", "pid", "tid", "name", "prio", "STATE", "cpu",
           "CPU time", "Blocked");
}

/* Formats a CPU time, e.g. 12.345678 s. */
static void cpu_time(uint64_t ns, char text[CPU_TIME])
{
    snprintf(text, CPU_TIME, "%lu.%06lu", (unsigned long)(ns / 1000000000),
             (unsigned long)(ns % 1000000000 / 1000));
}

void print_thread(const struct kymo_proc_info *proc, const struct kymo_thread_info *thread)
{
    char on[BLOCKED_ON], ran[CPU_TIME], name[KYMO_NAME_MAX + KYMO_THREAD_NAME_MAX + 2];

    blocked_on(thread, on);
    cpu_time(thread->run_ns, ran);
    snprintf(name, sizeof(name), "%s%s%s", proc->name, thread->name[0] ? "/" : "", thread->name);
    printf("%6d %3d %-20.20s %5d%c %-11s %3d %12s  %s\n", (int)proc->pid, (int)thread->tid, name,
           (int)thread->priority, policy_letter(thread->policy), kymo_state_name(thread->state),
           (int)thread->cpu, ran, on);
}

void print_info_head(void)
{
    printf("%6s %6s %-20s %7s %5s %5s %4s %6s %9s %8s\n", "pid", "ppid", "name", "threads", "chans",
           "conns", "maps", "timers", "memory", "ability");
}

void print_info(const struct kymo_proc_info *proc)
{
    printf("%6d %6d %-20.20s %7u %5u %5u %4u %6u %8luk %8x\n", (int)proc->pid, (int)proc->ppid,
           proc->name, (unsigned)proc->nthreads, (unsigned)proc->nchannels,
           (unsigned)proc->nconnections, (unsigned)proc->nmaps, (unsigned)proc->ntimers,
           (unsigned long)(proc->memory / 1024), (unsigned)proc->ability);
}

void print_objects_head(void)
{
    printf("%10s %9s %6s %4s %5s %4s  %s\n", "size", "memory", "maker", "mode", "opens", "maps",
           "name");
}

/* The process that created the object may have ended: then only processes with the ability may use
 * it. */
void print_object(const struct kymo_object_info *object)
{
    char maker[12] = "-";

    if (object->creator) {
        snprintf(maker, sizeof(maker), "%d", (int)object->creator);
    }
    printf("%10llu %8luk %6s %4o %5u %4u  %s%s%s\n", (unsigned long long)object->size,
           (unsigned long)(object->memory / 1024), maker, (unsigned)object->mode,
           (unsigned)object->opens, (unsigned)object->maps, object->name,
           object->flags & KYMO_OBJECT_NAMED ? "" : " (unlinked)",
           object->flags & KYMO_OBJECT_TRACING ? " (the event log's buffers)" : "");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ready queues, internal to the scheduler. Kernel lock held.
 *
 * A queue is a circular list of threads without a head: queues[] points to its first thread, so an
 * empty one costs a pointer. A bitmap shows which queues are not empty, with priority 255 in the
 * first bit, so the highest priority is found by counting leading zeros twice. A RUNNING thread is
 * in no queue.
 *
 * The thread that became READY last is not enqueued at once but kept in `latest`, the handoff
 * thread: most often the next switch takes it, as for every message and its reply, and it never
 * enters a queue. It counts as the last of its priority.
 */
#ifndef KERNEL_THREAD_SCHED_IMPL_H
#define KERNEL_THREAD_SCHED_IMPL_H

#include "kernel/thread/sched.h"

#define TOP_BIT 0x80000000u

void queue_insert(struct thread *t, bool at_front);
void queue_remove(struct thread *t);
/* Enqueues the handoff thread: afterwards all READY threads are in queues. */
void queue_settle(void);
/* Returns the first non-empty queue from queue q on; PRIORITIES: none. */
unsigned queue_next(unsigned q);
/* Returns the thread after t in scheduling order; NULL: t was the last. */
struct thread *queue_after(const struct thread *t);
/* Returns the queued thread that this CPU should run first. */
struct thread *queue_best(const struct cpu *cpu);

static inline unsigned queue_of(const struct thread *t)
{
    return PRIORITY_MAX - t->priority;
}

static inline struct thread *queue_thread(unsigned q)
{
    return list_entry(sched.queues[q], struct thread, ready);
}

/* Returns whether another thread of t's priority is READY. */
static inline bool has_equal(const struct thread *t)
{
    return sched.queues[queue_of(t)] || (sched.latest && sched.latest->priority == t->priority);
}

static inline bool is_idle(const struct cpu *cpu)
{
    return sched.idle_cpus >> cpu->id & 1;
}

#endif

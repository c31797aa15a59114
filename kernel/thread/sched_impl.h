/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ready queues, as the scheduler's own files see them. Kernel lock held.
 *
 * A queue is a ring of threads without a head: queues[] points at its first thread, so an empty one
 * costs a pointer. Which are empty is in a bitmap, priority 255 in the first bit, so the highest
 * priority is found by counting leading zeros twice. A RUNNING thread is in no queue.
 *
 * The thread that became READY last is not queued at once but kept in `latest`: most often the next
 * switch takes it, as in every message and its reply, and then it never was in a queue. It counts
 * as the last of its priority.
 */
#ifndef KERNEL_THREAD_SCHED_IMPL_H
#define KERNEL_THREAD_SCHED_IMPL_H

#include "kernel/thread/sched.h"

#define TOP_BIT 0x80000000u

void queue_insert(struct thread *t, bool at_front);
void queue_remove(struct thread *t);
/* From here on all READY threads are in queues. */
void queue_settle(void);
/* The first queue that is not empty, from queue q on; PRIORITIES: none. */
unsigned queue_next(unsigned q);
/* The thread after t in the order in which they should run; NULL: t was the last. */
struct thread *queue_after(const struct thread *t);
/* The thread in the queues that this CPU should run first. */
struct thread *queue_best(const struct cpu *cpu);

static inline unsigned queue_of(const struct thread *t)
{
    return PRIORITY_MAX - t->priority;
}

static inline struct thread *queue_thread(unsigned q)
{
    return list_entry(sched.queues[q], struct thread, ready);
}

/* Another thread of t's priority is READY. */
static inline bool has_equal(const struct thread *t)
{
    return sched.queues[queue_of(t)] || (sched.latest && sched.latest->priority == t->priority);
}

static inline bool is_idle(const struct cpu *cpu)
{
    return sched.idle_cpus >> cpu->id & 1;
}

#endif

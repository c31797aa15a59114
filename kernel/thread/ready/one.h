/* SPDX-License-Identifier: BSD-2-Clause */
/* One queue of all READY threads, the highest priority first: see kernel/thread/sched.h, which
 * includes this, and one.c. */
#ifndef KERNEL_THREAD_READY_ONE_H
#define KERNEL_THREAD_READY_ONE_H

#include "kernel/thread/thread.h"

struct ready_queues {
    struct list *first; /* [k] of a circle without a head; NULL: empty */
};

#include "kernel/thread/ready/state.h"

static inline struct thread *ready_first(void)
{
    return list_entry(sched.ready.first, struct thread, ready);
}

/* Bounded by the number of threads, like every search of the queue. */
struct list *ready_of(uint8_t priority);
void ready_turn(struct thread *first, struct thread *t);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* One queue of all READY threads, the highest priority first: see kernel/thread/sched.h, which
 * includes this, and one.c. */
#ifndef KERNEL_THREAD_READY_ONE_H
#define KERNEL_THREAD_READY_ONE_H

#include "kernel/thread/thread.h"

struct ready_queues {
    struct list *first; /* [k] of a circle without a head; NULL: empty */
};

static inline struct thread *ready_first(const struct ready_queues *ready, uint32_t above)
{
    (void)above;
    return list_entry(ready->first, struct thread, ready);
}

/* Bounded by the number of threads, like all that looks for a place. */
struct list *ready_of(const struct ready_queues *ready, uint8_t priority);
void ready_turn(struct ready_queues *ready, struct thread *first, struct thread *t);

#endif

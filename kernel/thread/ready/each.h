/* SPDX-License-Identifier: BSD-2-Clause */
/* A queue of READY threads for each priority: see kernel/thread/sched.h, which includes this, and
 * each.c. */
#ifndef KERNEL_THREAD_READY_EACH_H
#define KERNEL_THREAD_READY_EACH_H

#include "kernel/thread/thread.h"

struct ready_queues {
    uint32_t summary;                /* [k] bit per word of bits[] that is not 0 */
    uint32_t bits[PRIORITIES / 32];  /* [k] bit per queue that is not empty */
    struct list *queues[PRIORITIES]; /* [k] first thread of 255 - priority; NULL: empty */
};

#include "kernel/thread/ready/state.h"

static inline struct thread *ready_first(void)
{
    return list_entry(sched.ready.queues[PRIORITIES - sched.above], struct thread, ready);
}

static inline struct list *ready_of(uint8_t priority)
{
    return sched.ready.queues[PRIORITIES - 1 - priority];
}

/* The set of empty queues doesn't change. */
static inline void ready_turn(struct thread *first, struct thread *t)
{
    struct list **queue = &sched.ready.queues[PRIORITIES - 1 - t->priority];
    struct list *next = first->ready.next;

    kernel_assert(*queue == &first->ready && first->priority == t->priority);
    if (next == &first->ready) {
        list_init(&t->ready);
        *queue = &t->ready;
        return;
    }
    list_remove(&first->ready);
    list_insert_before(next, &t->ready);
    *queue = next;
}

#endif

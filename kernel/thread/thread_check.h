/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What assertions ask of threads. No function has a side effect; each takes time that a release
 * image doesn't have. Kernel lock held.
 */
#ifndef KERNEL_THREAD_THREAD_CHECK_H
#define KERNEL_THREAD_THREAD_CHECK_H

#include "kernel/base/assert.h"
#include "kernel/thread/thread.h"

/* t is in the queue of this head, by its ready node. */
static inline bool thread_is_queued(const struct list *head, const struct thread *t)
{
    list_for_each (pos, head) {
        if (pos == &t->ready) {
            return true;
        }
    }
    return false;
}

/* The queue of this head goes from higher to lower priorities. */
static inline bool thread_queue_ordered(const struct list *head)
{
    list_for_each (pos, head) {
        if (pos->next != head && list_entry(pos, struct thread, ready)->priority <
                                     list_entry(pos->next, struct thread, ready)->priority) {
            return false;
        }
    }
    return true;
}

/* t waits for something: neither READY, RUNNING, STOPPED nor DEAD. */
static inline bool thread_waits(const struct thread *t)
{
    return t->state > STATE_STOPPED;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The READY threads in one queue, for boards with few threads: a circular list without a head,
 * ordered by falling priority, then by arrival. An operation visits each thread at most once. A
 * RUNNING thread is not in the queue. Kernel lock held. Tested by test/kernel/thread/sched_test.c.
 */
#include "kernel/thread/sched.h"

/* For assertions: returns whether the queue is in order and its summary is correct. */
static inline bool ready_sound(void)
{
    const struct list *first = sched.ready.first;
    uint32_t n = 0, above = first ? ready_first()->priority + 1u : 0;

    for (const struct list *pos = first; pos; pos = pos->next == first ? NULL : pos->next) {
        const struct thread *t = list_entry(pos, struct thread, ready);
        const struct thread *next = list_entry(pos->next, struct thread, ready);

        n++;
        if (t->state != STATE_READY || !list_sound(pos) ||
            (pos->next != first && next->priority > t->priority)) {
            return false;
        }
    }
    return n == sched.queued && above == sched.above;
}

/* Returns the first thread of this priority or, if `below`, of a lower one, or NULL. */
static struct list *queue_place(uint8_t priority, bool below)
{
    struct list *pos = sched.ready.first;

    while (pos) {
        uint8_t other = list_entry(pos, struct thread, ready)->priority;

        if (other < priority || (other == priority && !below)) {
            return pos;
        }
        pos = pos->next == sched.ready.first ? NULL : pos->next;
    }
    return NULL;
}

static void queue_note_first(struct list *first)
{
    sched.ready.first = first;
    sched.above = first ? list_entry(first, struct thread, ready)->priority + 1u : 0;
}

void queue_insert(struct thread *t, bool at_front)
{
    struct list *first = sched.ready.first;
    struct list *pos = queue_place(t->priority, !at_front);

    kernel_assert(kernel_locked());
    kernel_assert(t->state == STATE_READY && ready_sound());
    sched.queued++;
    if (!first) {
        list_init(&t->ready);
    } else {
        /* inserting before the first thread means at the end */
        list_insert_before(pos ? pos : first, &t->ready);
    }
    if (!first || pos == first) {
        queue_note_first(&t->ready);
    }
}

void queue_remove(struct thread *t)
{
    struct list *next = t->ready.next;

    kernel_assert(kernel_locked());
    kernel_assert(sched.queued > 0 && ready_sound());
    sched.queued--;
    if (sched.ready.first == &t->ready) {
        queue_note_first(next == &t->ready ? NULL : next);
    }
    list_remove(&t->ready);
}

struct list *ready_of(uint8_t priority)
{
    struct list *pos = queue_place(priority, false);

    return pos && list_entry(pos, struct thread, ready)->priority == priority ? pos : NULL;
}

void ready_turn(struct thread *first, struct thread *t)
{
    kernel_assert(ready_of(t->priority) == &first->ready);
    queue_insert(t, false);
    queue_remove(first);
}

struct thread *queue_after_any(const struct thread *t)
{
    return t->ready.next == sched.ready.first ? NULL
                                              : list_entry(t->ready.next, struct thread, ready);
}

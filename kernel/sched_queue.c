/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ready queues: the parts that are not inline. Kernel lock held. Tested by
 * test/unit_kernel/sched_test.c.
 */
#include "kernel/sched_impl.h"

struct sched sched;

void queue_insert(struct thread *t, bool at_front)
{
    unsigned q = queue_of(t);
    struct list *first = sched.queues[q];

    if (first) {
        list_insert_before(first, &t->ready);
        if (at_front) {
            sched.queues[q] = &t->ready;
        }
        return;
    }
    list_init(&t->ready);
    sched.queues[q] = &t->ready;
    sched.bits[q / 32] |= TOP_BIT >> (q % 32);
    sched.summary |= TOP_BIT >> (q / 32);
}

void queue_remove(struct thread *t)
{
    unsigned q = queue_of(t);
    struct list *next = t->ready.next;

    if (next != &t->ready) {
        if (sched.queues[q] == &t->ready) {
            sched.queues[q] = next;
        }
        list_remove(&t->ready);
        return;
    }
    sched.queues[q] = NULL;
    sched.bits[q / 32] &= ~(TOP_BIT >> (q % 32));
    if (sched.bits[q / 32] == 0) {
        sched.summary &= ~(TOP_BIT >> (q / 32));
    }
}

void queue_settle(void)
{
    if (sched.latest) {
        queue_insert(sched.latest, sched.latest_front);
        sched.latest = NULL;
    }
}

unsigned queue_next(unsigned q)
{
    while (q < PRIORITIES) {
        uint32_t bits = sched.bits[q / 32] << (q % 32);
        if (bits) {
            return q + (unsigned)__builtin_clz(bits);
        }
        q = (q / 32 + 1) * 32;
    }
    return PRIORITIES;
}

struct thread *queue_after(const struct thread *t)
{
    unsigned q = queue_of(t);

    if (t->ready.next != sched.queues[q]) {
        return list_entry(t->ready.next, struct thread, ready);
    }
    q = queue_next(q + 1);
    return q < PRIORITIES ? queue_thread(q) : NULL;
}

struct thread *queue_best(const struct cpu *cpu)
{
    int priority = queue_priority();
    struct thread *t = priority < 0 ? NULL : queue_thread(PRIORITY_MAX - (unsigned)priority);

    while (t && !runs_on(t, cpu)) {
        t = queue_after(t);
    }
    return t;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ready queues, one for each priority. Kernel lock held. Tested by
 * test/kernel/thread/sched_test.c.
 *
 * A queue is a circular list of threads without a head: queues[] points to its first thread, so an
 * empty one costs a pointer. A bitmap shows which queues are not empty, with priority 255 in the
 * first bit, so the highest priority is found by counting leading zeros twice. A RUNNING thread is
 * in no queue.
 */
#include "kernel/thread/sched.h"

#define TOP_BIT 0x80000000u

static inline unsigned queue_of(const struct thread *t)
{
    return PRIORITIES - 1 - t->priority;
}

/* For assertions: returns whether queue q agrees with its bits and contains only its priority. */
static inline bool queue_sound(unsigned q)
{
    const struct list *first = sched.ready.queues[q];
    bool marked = sched.ready.bits[q / 32] & (TOP_BIT >> (q % 32));

    for (const struct list *pos = first; pos; pos = pos->next == first ? NULL : pos->next) {
        const struct thread *t = list_entry(pos, struct thread, ready);
        if (queue_of(t) != q || t->state != STATE_READY || !list_sound(pos)) {
            return false;
        }
    }
    return marked == (first != NULL) && (!first || sched.above > PRIORITY_MAX - q);
}

void queue_insert(struct thread *t, bool at_front)
{
    unsigned q = queue_of(t);
    struct list *first = sched.ready.queues[q];

    kernel_assert(kernel_locked());
    kernel_assert(t->state == STATE_READY && queue_sound(q));
    sched.queued++;
    if (first) {
        list_insert_before(first, &t->ready);
        if (at_front) {
            sched.ready.queues[q] = &t->ready;
        }
        return;
    }
    list_init(&t->ready);
    sched.ready.queues[q] = &t->ready;
    sched.ready.bits[q / 32] |= TOP_BIT >> (q % 32);
    sched.ready.summary |= TOP_BIT >> (q / 32);
    if (t->priority >= sched.above) {
        sched.above = t->priority + 1u;
    }
}

static uint32_t queues_above(void)
{
    if (sched.ready.summary == 0) {
        return 0;
    }
    unsigned word = (unsigned)__builtin_clz(sched.ready.summary);
    return PRIORITIES - (word * 32 + (unsigned)__builtin_clz(sched.ready.bits[word]));
}

void queue_remove(struct thread *t)
{
    unsigned q = queue_of(t);
    struct list *next = t->ready.next;

    kernel_assert(kernel_locked());
    kernel_assert(sched.ready.queues[q] && queue_sound(q));
    sched.queued--;
    if (next != &t->ready) {
        if (sched.ready.queues[q] == &t->ready) {
            sched.ready.queues[q] = next;
        }
        list_remove(&t->ready);
        return;
    }
    sched.ready.queues[q] = NULL;
    sched.ready.bits[q / 32] &= ~(TOP_BIT >> (q % 32));
    if (sched.ready.bits[q / 32] == 0) {
        sched.ready.summary &= ~(TOP_BIT >> (q / 32));
    }
    sched.above = queues_above();
}

/* Returns the first non-empty queue from queue q on, or PRIORITIES. */
static unsigned queue_next(unsigned q)
{
    uint32_t bits = q < PRIORITIES ? sched.ready.bits[q / 32] << (q % 32) : 0;
    unsigned word = q / 32 + 1;

    if (bits) {
        return q + (unsigned)__builtin_clz(bits);
    }
    uint32_t words = sched.ready.summary << word;
    if (!words) {
        return PRIORITIES;
    }
    word += (unsigned)__builtin_clz(words);
    return word * 32 + (unsigned)__builtin_clz(sched.ready.bits[word]);
}

struct thread *queue_after_any(const struct thread *t)
{
    unsigned q = queue_of(t);

    if (t->ready.next != sched.ready.queues[q]) {
        return list_entry(t->ready.next, struct thread, ready);
    }
    q = queue_next(q + 1);
    return q < PRIORITIES ? list_entry(sched.ready.queues[q], struct thread, ready) : NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locks that a thread keeps across the steps of a call: of the long calls (long_call.c), and of the
 * console (kernel/entry/console.c). Kernel lock held.
 *
 * Other threads wait in WAITCTX, by priority, and the owner inherits the highest; so does the
 * thread that was woken to be the next owner. A release wakes one thread, whose call then tries
 * again. Only a thread of higher priority gets a free lock before it, so a thread waits for one
 * turn of each other thread of its priority. If the woken thread ends, is held or sleeps before it
 * has taken the lock, the next one is woken in its place.
 *
 * A hold of the owner waits until it releases the lock. A held thread that waits leaves the queue,
 * and tries again when it continues. Tested by test/kernel (call_lock_test, against a model;
 * long_call_test, console_test), and by test/board's suites crashes and crashes-multi.
 */
#include "kernel/thread/thread.h"

static struct call_lock *locks; /* [k] the locks that were ever taken */

const struct call_lock *call_lock_first(void)
{
    return locks;
}

/* Returns the lock that a thread in WAITCTX waits for, or NULL if it waits for something else. */
static struct call_lock *call_lock_of(const struct thread *t)
{
    struct call_lock *lock = locks;

    while (lock && t->sync != (uintptr_t)lock) {
        lock = lock->next;
    }
    return t->state == STATE_WAITCTX ? lock : NULL;
}

static void call_lock_insert(struct call_lock *lock, struct thread *t)
{
    order_insert(&lock->order, &lock->waiting, &t->ready, &t->order, t->priority);
    t->sync = (uintptr_t)lock;
}

static void call_lock_remove(struct call_lock *lock, struct thread *t)
{
    kernel_assert(thread_is_queued(&lock->waiting, t));
    order_remove(&lock->order, &t->ready, &t->order);
    t->sync = 0;
}

static void call_lock_raise(const struct call_lock *lock, uint8_t priority)
{
    struct thread *next = lock->owner ? lock->owner : lock->woken;

    if (next) {
        thread_raise_call(next, priority);
    }
}

/* Lets t, the lock's new owner or woken thread, inherit from those that already wait. Its own
 * priority may decrease later. */
static void call_lock_inherit(const struct call_lock *lock, struct thread *t)
{
    if (!list_empty(&lock->waiting)) {
        thread_raise_call(t, list_entry(lock->waiting.next, struct thread, ready)->priority);
    }
}

/* Ends the inheritance of t, which was woken while another thread got the lock. A thread that ends
 * after its call keeps the priority of threads that wait for the end. */
static void call_lock_disinherit(struct thread *t)
{
    if (t->call_priority && !(t->flags & THREAD_DYING)) {
        t->call_priority = 0;
        thread_update_priority(t);
    }
}

static void call_lock_wake(struct call_lock *lock)
{
    lock->woken = NULL;
    if (!list_empty(&lock->waiting)) {
        struct thread *t = list_entry(lock->waiting.next, struct thread, ready);
        call_lock_remove(lock, t);
        lock->woken = t;
        call_lock_inherit(lock, t);
        thread_wake_set(t);
    }
}

static bool call_lock_free_for(const struct call_lock *lock, const struct thread *self)
{
    return !lock->owner &&
           (!lock->woken || lock->woken == self || lock->woken->priority < self->priority);
}

long call_lock_take(struct call_lock *lock, struct thread *self)
{
    kernel_assert(kernel_locked());
    const bool free = call_lock_free_for(lock, self);

    if (!lock->waiting.next) {
        list_init(&lock->waiting);
        lock->next = locks;
        locks = lock;
    }
    if (lock->woken == self) {
        lock->woken = NULL;
    }
    if (lock->owner == self) {
        return 0;
    }
    if (free) {
        lock->owner = self;
        call_lock_inherit(lock, self);
        return 0;
    }
    call_lock_disinherit(self);
    long result = thread_block(self, STATE_WAITCTX);
    if (result != KER_BLOCKED) {
        return result;
    }
    call_lock_insert(lock, self);
    self->flags |= THREAD_AGAIN;
    call_lock_raise(lock, self->priority);
    return KER_BLOCKED;
}

void call_lock_release(struct call_lock *lock)
{
    struct thread *t = lock->owner;

    kernel_assert(kernel_locked() && t);
    lock->owner = NULL;
    if (t->call_priority) {
        t->call_priority = 0;
        thread_update_priority(t);
    }
    if (t->flags & THREAD_HELD) {
        t->flags &= (uint8_t)~THREAD_HELD;
        thread_hold(t);
    }
    if (lock->woken) { /* t got the lock before the woken thread */
        call_lock_disinherit(lock->woken);
    }
    call_lock_wake(lock);
}

bool call_lock_owns(const struct thread *t)
{
    struct call_lock *lock = locks;

    while (lock && lock->owner != t) {
        lock = lock->next;
    }
    return lock != NULL;
}

void call_lock_pass_on(struct thread *t)
{
    for (struct call_lock *lock = locks; lock; lock = lock->next) {
        if (lock->woken == t) {
            call_lock_disinherit(t);
            call_lock_wake(lock);
        }
    }
}

void call_lock_held(struct thread *t)
{
    struct call_lock *lock = call_lock_of(t);

    if (lock) {
        call_lock_remove(lock, t);
        thread_wake_set(t); /* STOPPED, because it is held */
    }
}

void call_lock_gone(const struct thread *t)
{
    for (struct call_lock *lock = locks; lock; lock = lock->next) {
        const bool owns = lock->owner == t;
        if (owns) {
            lock->owner = NULL;
            if (lock->woken) {
                call_lock_disinherit(lock->woken);
            }
        }
        if (owns || lock->woken == t) {
            call_lock_wake(lock);
        }
    }
}

/* ---- WAITCTX ----------------------------------------------------------------------- */

static void context_requeue(struct thread *t)
{
    struct call_lock *lock = call_lock_of(t);

    if (lock) {
        call_lock_remove(lock, t);
        call_lock_insert(lock, t);
        call_lock_raise(lock, t->priority);
    }
}

static bool context_cancel(struct thread *t, int error)
{
    kernel_assert(kernel_locked() && t->state == STATE_WAITCTX);
    struct call_lock *lock = call_lock_of(t);

    if (lock) {
        call_lock_remove(lock, t);
    } else {
        list_remove(&t->ready);
    }
    t->flags &= (uint8_t)~THREAD_AGAIN;
    return thread_wait_over(t, error);
}

const struct wait_kind thread_wait_context = {.requeue = context_requeue, .cancel = context_cancel};

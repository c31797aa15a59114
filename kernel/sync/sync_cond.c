/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Condition variables: SyncCondvarWait, SyncCondvarSignal. Kernel lock held.
 *
 * A waiter releases its mutex and waits in one step. A signal does not wake it to compete for the
 * mutex: it locks the mutex for the waiter, or moves the waiter to the mutex's waiters, where its
 * timeout no longer applies. SyncCondvarWait() returns with the mutex held, also with ETIMEDOUT and
 * EINTR, except with EINVAL, EFAULT (the mutex can't be locked any more) and EPERM (the caller
 * didn't own it).
 *
 * Errors: memory that isn't the process's (EFAULT), an unaligned or destroyed object and objects of
 * other kinds (EINVAL). Tested by test/kernel.
 */
#include "kernel/sync/sync.h"

static bool is_cond(const sync_t *sync)
{
    uint32_t owner = sync->owner;
    return owner == SYNC_OWNER_COND || owner == 0;
}

/* Locks the mutex for a waiter that was woken without it, because user code on other CPUs kept
 * changing the word. */
static long sync_cond_relock(struct thread *self, const uintptr_t *args)
{
    int error = (int)self->step - 1;
    long r = ker_sync_mutex_lock(self, args + 1);
    if (r == KER_BLOCKED) {
        self->sync_error = error;
    }
    return r == 0 ? -error : r;
}

long ker_sync_condvar_wait(struct thread *self, const uintptr_t *args)
{
    if (self->step) {
        return sync_cond_relock(self, args);
    }
    long r;
    sync_t *cond = sync_at(self, args[0], &r);
    sync_t *mutex = cond ? sync_at(self, args[1], &r) : NULL;
    if (mutex && (!is_cond(cond) || args[0] == args[1])) {
        r = -EINVAL;
    } else if (mutex && (mutex->owner & ~SYNC_WAITING) != (uint32_t)self->tid) {
        r = -EPERM;
    } else if (mutex) {
        r = thread_block(self, STATE_CONDVAR);
    }
    if (r != KER_BLOCKED) {
        timeout_unused(self);
        return r;
    }
    self->sync_mutex = args[1];
    self->sync_error = 0;
    sync_insert(self, args[0]);
    sync_mutex_release(self, args[1], mutex);
    return r;
}

/* Makes a waiter continue, with this result once it owns its mutex. It is in the list, in
 * CONDVAR. */
static void to_mutex(struct thread *t, int error)
{
    struct thread *owner = NULL;
    long r;
    sync_t *mutex = sync_at(t, t->sync_mutex, &r);
    enum sync_taken taken = mutex ? sync_mutex_take(t, t->sync_mutex, mutex, &owner) : SYNC_BAD;
    if (taken == SYNC_TAKEN) {
        sync_wake(t, error);
    } else if (taken == SYNC_WAIT && owner != t) {
        t->sync = t->sync_mutex;
        t->sync_error = error;
        thread_set_state(t, STATE_MUTEX);
        timeout_disarm(t);
        sync_wait_for(t, owner);
    } else if (taken == SYNC_RETRY) {
        t->step = 1 + (uint32_t)error;
        t->flags |= THREAD_AGAIN;
        sync_wake(t, 0);
    } else {
        sync_wake(t, mutex ? EINVAL : EFAULT);
    }
}

/* Returns the first waiter that the call has to wake, or NULL. */
static struct thread *sync_cond_next(const struct thread *self, uintptr_t addr)
{
    list_for_each (pos, &self->proc->sync_waiters) {
        struct thread *t = list_entry(pos, struct thread, ready);
        if (t->sync == addr && t->state == STATE_CONDVAR && sync_waited_before(t, self)) {
            return t;
        }
    }
    return NULL;
}

/* Wakes all waiters in steps, each of which removes some from CONDVAR, whatever the condition
 * variable contains by then. Threads that come after the first step wait for the next signal. */
static long sync_cond_broadcast(struct thread *self, uintptr_t addr)
{
    struct thread *t;

    for (unsigned n = 0; (t = sync_cond_next(self, addr)); n++) {
        if (n == CONFIG_SYNC_AT_ONCE) {
            self->step = THREAD_STEP_FINISHES;
            return KER_AGAIN;
        }
        to_mutex(t, 0);
    }
    return 0;
}

long ker_sync_condvar_signal(struct thread *self, const uintptr_t *args)
{
    if (self->step == 0) {
        long r;
        sync_t *cond = sync_at(self, args[0], &r);
        if (!cond || !is_cond(cond)) {
            return cond ? -EINVAL : r;
        }
        if (args[1] != 0) {
            sync_steps_begin(self);
        }
    }
    if (args[1] != 0) {
        return sync_cond_broadcast(self, args[0]);
    }
    struct thread *t = sync_first(self->proc, args[0], STATE_CONDVAR);
    if (t) {
        to_mutex(t, 0);
    }
    return 0;
}

/* Handles a timeout or a cancellation: the call returns this error when it has the mutex. */
static bool cond_cancel(struct thread *t, int error)
{
    if (!error) {
        return sync_cancel(t, 0);
    }
    to_mutex(t, error);
    return true;
}

const struct wait_kind sync_wait_cond = {.requeue = sync_requeue, .cancel = cond_cancel};

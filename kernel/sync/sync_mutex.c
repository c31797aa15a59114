/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutexes: SyncMutexLock, SyncMutexUnlock, SyncMutexRevive, and priority inheritance to the owner.
 * sync.c describes the protocol of the owner word. Kernel lock held.
 *
 * Errors: memory that isn't the process's (EFAULT), unaligned or destroyed mutexes and owners that
 * are not threads (EINVAL), a mutex that the caller owns (EDEADLK; recursive ones are counted in
 * user code), unlocking one that it doesn't own (EPERM), reviving one whose owner lives (EINVAL).
 * Tested by test/kernel.
 */
#include "kernel/ipc/ipc.h"
#include "kernel/sync/sync.h"
#include "kernel/base/cpu.h"
#include "kernel/arch/cpu.h"

void sync_inherit(struct thread *owner)
{
    kernel_assert(kernel_locked());
    uint8_t highest = 0;
    list_for_each (pos, &owner->proc->sync_waiters) {
        struct thread *t = list_entry(pos, struct thread, ready);
        if (t->sync_owner == owner && t->priority > highest) {
            highest = t->priority;
        }
    }
    if (highest == owner->sync_priority || !inherit_enter()) {
        return;
    }
    owner->sync_priority = highest;
    thread_update_priority(owner);
    inherit_leave();
}

void sync_wait_for(struct thread *t, struct thread *owner)
{
    kernel_assert(kernel_locked() && t->state == STATE_MUTEX);
    kernel_assert(owner != t && owner->proc == t->proc && owner->state != STATE_DEAD);
    t->sync_owner = owner;
    sync_inherit(owner);
}

/* Recomputes all threads: the program wrote a word itself, so it is not known which owners
 * inherited from waiters. */
static void inherit_all(struct process *proc)
{
    uint8_t highest[CONFIG_THREADS_PER_PROCESS] = {0};

    list_for_each (pos, &proc->sync_waiters) {
        const struct thread *t = list_entry(pos, struct thread, ready);
        uint8_t *at = t->sync_owner ? &highest[thread_slot(t->sync_owner->tid)] : NULL;
        if (at && t->priority > *at) {
            *at = t->priority;
        }
    }
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        struct thread *t = proc->threads[i];
        if (t && t->state != STATE_DEAD && t->sync_priority != highest[i]) {
            sync_inherit(t); /* again: the others may have changed the waiters meanwhile */
        }
    }
}

/* Makes the waiters of this mutex wait for a new owner. Returns true if there are any. *odd: some
 * did not wait for the old owner. */
static bool move_waiters(uintptr_t addr, const struct thread *old, struct thread *owner, bool *odd)
{
    bool any = false;
    list_for_each (pos, &owner->proc->sync_waiters) {
        struct thread *t = list_entry(pos, struct thread, ready);
        if (t->state == STATE_MUTEX && t->sync == addr) {
            *odd |= t->sync_owner != old;
            t->sync_owner = owner;
            any = true;
        }
    }
    return any;
}

/* Returns the thread whose tid is in the word, or NULL if it doesn't exist (any more). */
static struct thread *owner_of(struct process *proc, uint32_t word)
{
    return thread_living(proc, (int)(word & ~SYNC_WAITING));
}

/* Gives t a mutex that no living thread owns, if the word is unchanged. Threads that wait for it
 * nevertheless (the program wrote the word) now wait for t. */
static bool take_from(struct thread *t, uintptr_t addr, sync_t *sync, uint32_t word)
{
    if (!arch_cas32(&sync->owner, word, (uint32_t)t->tid)) {
        return false;
    }
    bool odd = false;
    if (move_waiters(addr, NULL, t, &odd)) {
        arch_cas32(&sync->owner, (uint32_t)t->tid, (uint32_t)t->tid | SYNC_WAITING);
        inherit_all(t->proc);
    }
    return true;
}

enum sync_taken sync_mutex_take(struct thread *t, uintptr_t addr, sync_t *sync,
                                struct thread **owner)
{
    for (int i = 0; i < SYNC_TRIES; i++) {
        uint32_t word = sync->owner;
        if (word == 0) {
            if (take_from(t, addr, sync, 0)) {
                return SYNC_TAKEN;
            }
            continue;
        }
        *owner = owner_of(t->proc, word);
        if (!*owner) {
            if (!(word & ~(SYNC_WAITING | SYNC_TID_MASK))) {
                /* the owner ended while it owned the mutex */
                arch_cas32(&sync->owner, word, SYNC_OWNER_DEAD);
            }
            return SYNC_BAD;
        }
        if ((word & SYNC_WAITING) || arch_cas32(&sync->owner, word, word | SYNC_WAITING)) {
            return SYNC_WAIT;
        }
    }
    return SYNC_RETRY;
}

static long sync_mutex_wait(struct thread *self, uintptr_t addr, struct thread *owner)
{
    if (owner == self) {
        return -EDEADLK;
    }
    long r = thread_block(self, STATE_MUTEX);
    if (r == KER_BLOCKED) {
        self->sync_error = 0;
        sync_insert(self, addr);
        sync_wait_for(self, owner);
    }
    return r;
}

long ker_sync_mutex_lock(struct thread *self, const uintptr_t *args)
{
    struct thread *owner = NULL;
    long r;
    sync_t *sync = sync_at(self, args[0], &r);
    if (sync) {
        switch (sync_mutex_take(self, args[0], sync, &owner)) {
        case SYNC_TAKEN:
            r = 0;
            break;
        case SYNC_WAIT:
            r = sync_mutex_wait(self, args[0], owner);
            break;
        case SYNC_RETRY:
            return KER_AGAIN;
        default:
            r = -EINVAL;
        }
    }
    if (r != KER_BLOCKED) {
        timeout_unused(self);
    }
    return r;
}

/* The dead owner's word is SYNC_OWNER_DEAD, or its tid if its end has not been detected yet. */
long ker_sync_mutex_revive(struct thread *self, const uintptr_t *args)
{
    long error;
    sync_t *sync = sync_at(self, args[0], &error);
    if (!sync) {
        return error;
    }
    uint32_t word = sync->owner;
    bool a_tid = (word & ~SYNC_WAITING) - 1 < SYNC_TID_MASK;
    if (word != SYNC_OWNER_DEAD && (!a_tid || owner_of(self->proc, word))) {
        return -EINVAL;
    }
    if (!take_from(self, args[0], sync, word)) {
        return -EINVAL;
    }
    sync->count &= ~SYNC_COUNT_DEPTH;
    return 0;
}

/* A release store: user code of another CPU may lock a free mutex without the kernel, by its own
 * compare-and-swap, and must then see everything written while the mutex was owned. */
static void set_owner(sync_t *sync, uint32_t word)
{
    __atomic_store_n(&sync->owner, word, __ATOMIC_RELEASE);
}

void sync_mutex_release(struct thread *self, uintptr_t addr, sync_t *sync)
{
    struct thread *next = sync_first(self->proc, addr, STATE_MUTEX);
    if (!next) {
        set_owner(sync, 0);
        return;
    }
    trace_site_mutex_give((uint32_t)self->pid, (uint32_t)self->tid, addr);
    trace_site_mutex_take((uint32_t)next->pid, (uint32_t)next->tid, addr);
    bool odd = next->sync_owner != self;
    kernel_assert(next->state == STATE_MUTEX);
    list_remove(&next->ready);
    next->sync_owner = NULL;
    bool more = move_waiters(addr, self, next, &odd);
    set_owner(sync, (uint32_t)next->tid | (more ? SYNC_WAITING : 0));
    thread_wake(next, next->sync_error ? -1 : 0, next->sync_error);
    if (odd) {
        inherit_all(self->proc);
        return;
    }
    sync_inherit(next);
    sync_inherit(self);
}

long ker_sync_mutex_unlock(struct thread *self, const uintptr_t *args)
{
    long error;
    sync_t *sync = sync_at(self, args[0], &error);
    if (!sync) {
        return error;
    }
    uint32_t word = sync->owner;
    if ((word & ~SYNC_WAITING) != (uint32_t)self->tid) {
        return word == SYNC_OWNER_DESTROYED ? -EINVAL : -EPERM;
    }
    sync_mutex_release(self, args[0], sync);
    return 0;
}

/* Fails one waiter of a mutex whose owner ended. */
static void owner_died(struct thread *waiter)
{
    long error;
    sync_t *sync = sync_at(waiter, waiter->sync, &error);
    if (sync) {
        sync->owner = SYNC_OWNER_DEAD;
    }
    sync_wake(waiter, EINVAL);
}

/* All waiters of an ending process end, too, and need no error. */
void sync_thread_gone(struct thread *t)
{
    kernel_assert(kernel_locked());
    if (!t->proc->dying) {
        return;
    }
    list_for_each (pos, &t->proc->sync_waiters) {
        struct thread *waiter = list_entry(pos, struct thread, ready);
        if (waiter->sync_owner == t) {
            waiter->sync_owner = NULL;
        }
    }
}

bool sync_thread_gone_piece(struct thread *t)
{
    unsigned n = 0;

    kernel_assert(kernel_locked());
    if (t->proc->dying) {
        sync_thread_gone(t);
        return false;
    }
    list_for_each_safe (pos, &t->proc->sync_waiters) {
        struct thread *waiter = list_entry(pos, struct thread, ready);
        if (waiter->sync_owner == t && n++ < CONFIG_SYNC_AT_ONCE) {
            owner_died(waiter);
        }
    }
    if (thread_loses(t)) { /* otherwise it is being released, and has no state */
        sync_inherit(t);
    }
    return n > CONFIG_SYNC_AT_ONCE;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutexes, condition variables and semaphores: the common part. Kernel lock held.
 *
 * A sync_t is two words in the memory of a process and belongs to it alone. The kernel itself
 * stores only the waiters: proc->sync_waiters links the waiting threads by their ready node, by
 * priority; t->sync is the address waited for, t->state the kind of wait. All searches are bounded
 * by CONFIG_THREADS_PER_PROCESS. The kernel trusts nothing in the words: whatever a program writes
 * there, only its own threads wait too long or too short.
 *
 * The protocol of a mutex's owner word, with user code of other CPUs running at the same time:
 *   0          free. User code or the kernel takes it by a compare-and-swap 0 -> tid.
 *   tid        owned, without waiters. User code frees it by a compare-and-swap tid -> 0.
 *   tid|W      owned, and the kernel has waiters. Only the kernel changes it, lock held: user code
 *              finds neither 0 nor its bare tid, so both its swaps fail and it calls the kernel.
 * The kernel sets W by a compare-and-swap tid -> tid|W before the caller waits. If the owner frees
 * the mutex first, that swap fails, and the kernel checks again; if it frees it later, the owner's
 * own swap fails, and it calls SyncMutexUnlock(), which hands the mutex to the first waiter. So no
 * wake-up is lost. W without a waiter (one that timed out) is harmless: the next unlock clears it.
 *
 * A semaphore's count is changed by compare-and-swap. User code may decrement it (count > 0) by
 * itself; it must post through SyncSemPost(), because no bit shows it whether there are waiters.
 *
 * When a thread ends while it owns a mutex that others wait for, the word becomes SYNC_OWNER_DEAD.
 * The waiters and all later callers get EINVAL, until SyncMutexRevive(), SyncTypeCreate() or the
 * program reinitialises it. If no thread waits, the next SyncMutexLock() detects it. Tested by
 * test/kernel.
 */
#include "kernel/sync/sync.h"
#include "kernel/thread/thread.h"
#include "kernel/base/cpu.h"

void sync_init(void)
{
}

sync_t *sync_search(struct thread *t, uintptr_t addr, long *error)
{
    const unsigned prot = KYMO_PROT_READ | KYMO_PROT_WRITE;

    kernel_assert(kernel_locked());
    if (addr & (sizeof(uint32_t) - 1)) {
        *error = -EINVAL;
        return NULL;
    }
    sync_t *sync = vm_cache_fill(&t->sync_cache, t->proc, addr, sizeof(sync_t), prot);
    if (!sync) { /* the mapping is shorter than a cache's span */
        sync = vm_user_ptr(t->proc, addr, sizeof(sync_t), prot);
    }
    *error = sync ? 0 : -EFAULT;
    return sync;
}

static uint32_t sync_arrivals; /* [k] */

/* All threads that wait now have arrived before the call. This holds even if so many have arrived
 * since that the sequence number has wrapped: their numbers are then set so that they count as
 * earlier for as long as the call can take. */
void sync_steps_begin(struct thread *self)
{
    const uint32_t old = 1u << 30;

    self->queue_seq = sync_arrivals;
    list_for_each (pos, &self->proc->sync_waiters) {
        struct thread *t = list_entry(pos, struct thread, ready);
        if (sync_arrivals - t->queue_seq > old) {
            t->queue_seq = sync_arrivals - old;
        }
    }
}

void sync_insert(struct thread *self, uintptr_t addr)
{
    kernel_assert(kernel_locked() && thread_waits(self));
    self->queue_seq = ++sync_arrivals;
    self->sync = addr;
    self->sync_owner = NULL;
    thread_insert_by_priority(&self->proc->sync_waiters, self);
}

bool sync_cancel(struct thread *t, int error)
{
    struct thread *owner = t->sync_owner;
    kernel_assert(thread_is_queued(&t->proc->sync_waiters, t));
    t->sync_owner = NULL;
    if (owner) {
        /* needed if mutexes wait in a cycle, in which t itself may be changed and requeued */
        sync_inherit(owner);
    }
    list_remove(&t->ready);
    return thread_wait_over(t, error);
}

void sync_requeue(struct thread *t)
{
    kernel_assert(thread_is_queued(&t->proc->sync_waiters, t));
    list_remove(&t->ready);
    thread_insert_by_priority(&t->proc->sync_waiters, t);
    if (t->sync_owner) {
        sync_inherit(t->sync_owner);
    }
}

const struct wait_kind sync_wait = {.requeue = sync_requeue, .cancel = sync_cancel};

/* On QNX this creates a kernel object or attributes; on Kymo only the words. The count stays as the
 * program set it: a semaphore's value, a mutex's kind. */
long ker_sync_create(struct thread *self, const uintptr_t *args)
{
    static const uint32_t owners[] = {
        [SYNC_MUTEX_FREE] = 0, [SYNC_SEM] = SYNC_OWNER_SEM, [SYNC_COND] = SYNC_OWNER_COND};
    long error;
    if (args[0] >= sizeof(owners) / sizeof(owners[0])) {
        return -EINVAL;
    }
    sync_t *sync = sync_at(self, args[1], &error);
    if (!sync) {
        return error;
    }
    if (args[0] == SYNC_SEM && sync->count < 0) {
        return -EINVAL;
    }
    sync->owner = owners[args[0]];
    return 0;
}

/* Returns a waiter of any kind at this address that the call has to wake, or NULL. */
static struct thread *sync_next_to_fail(const struct thread *self, uintptr_t addr)
{
    list_for_each (pos, &self->proc->sync_waiters) {
        struct thread *t = list_entry(pos, struct thread, ready);
        if (t->sync == addr && sync_waited_before(t, self)) {
            return t;
        }
    }
    return NULL;
}

/* Works in steps: the first one destroys the object, so that no thread can begin to wait; each
 * wakes some waiters, whatever the memory contains by then. */
long ker_sync_destroy(struct thread *self, const uintptr_t *args)
{
    struct thread *t;
    long error;

    if (self->step == 0) {
        sync_t *sync = sync_at(self, args[0], &error);
        if (!sync) {
            return error;
        }
        if (sync->owner == SYNC_OWNER_DESTROYED) {
            return -EINVAL;
        }
        sync->owner = SYNC_OWNER_DESTROYED;
        sync_steps_begin(self);
    }
    for (unsigned n = 0; (t = sync_next_to_fail(self, args[0])); n++) {
        if (n == CONFIG_SYNC_AT_ONCE) {
            self->step = THREAD_STEP_FINISHES;
            return KER_AGAIN;
        }
        struct thread *owner = t->sync_owner;
        sync_wake(t, EINVAL);
        if (owner) {
            sync_inherit(owner);
        }
    }
    return 0;
}

long ker_sync_ctl(struct thread *self, const uintptr_t *args)
{
    (void)self;
    (void)args;
    return -ENOTSUP; /* priority ceilings, mutex events */
}

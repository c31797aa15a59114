/* SPDX-License-Identifier: BSD-2-Clause */
/* Mutexes, condition variables and semaphores: the interface for other rooms. Kernel lock held. */
#ifndef KERNEL_SYNC_SYNC_H
#define KERNEL_SYNC_SYNC_H

#include "abi/compiler.h"
#include "abi/errno.h"
#include "kernel/base/cpu.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"

void sync_init(void);
extern const struct wait_kind sync_wait;      /* MUTEX, SEM */
extern const struct wait_kind sync_wait_cond; /* CONDVAR */
/* Called when an owner of mutexes ends: the first if its whole process ends; otherwise the second,
 * in steps. */
void sync_thread_gone(struct thread *t);
bool sync_thread_gone_piece(struct thread *t);

/* ---- for this room's own files ----------------------------------------------------- */

/* Number of attempts. A compare-and-swap that fails this often competes with other CPUs' user code:
 * the call is tried again after other work. */
#define SYNC_TRIES 16

/* Returns the sync_t at a user address of t, or NULL and *error (-EINVAL: unaligned, -EFAULT). */
sync_t *sync_search(struct thread *t, uintptr_t addr, long *error);
static inline sync_t *sync_at(struct thread *t, uintptr_t addr, long *error)
{
    sync_t *sync = vm_cache_ptr(&t->sync_cache, addr);

    kernel_assert(kernel_locked());
    if (unlikely(!sync || (addr & (sizeof(uint32_t) - 1)))) {
        return sync_search(t, addr, error);
    }
    *error = 0;
    return sync;
}
/* Returns the first thread that waits for this sync_t in this state, or NULL. */
static inline struct thread *sync_first(const struct process *proc, uintptr_t addr,
                                        enum thread_state state)
{
    kernel_assert(kernel_locked());
    list_for_each (pos, &proc->sync_waiters) {
        struct thread *t = list_entry(pos, struct thread, ready);
        if (t->sync == addr && t->state == state) {
            return t;
        }
    }
    return NULL;
}
/* Distinguish threads that began to wait before a call from those that came later: the call's later
 * steps don't wake the latter. Until then queue_seq belongs to the call. */
void sync_steps_begin(struct thread *self);
static inline bool sync_waited_before(const struct thread *t, const struct thread *self)
{
    return (int32_t)(t->queue_seq - self->queue_seq) <= 0;
}

/* Inserts self, whose state has been set, into the list of waiters, by priority. */
void sync_insert(struct thread *self, uintptr_t addr);
/* The operations of sync_wait; the second one is for SEM and MUTEX only. */
void sync_requeue(struct thread *t);
bool sync_cancel(struct thread *t, int error);
/* Removes a waiter from the list and wakes it. */
static inline void sync_wake(struct thread *waiter, int error)
{
    kernel_assert(thread_is_queued(&waiter->proc->sync_waiters, waiter));
    list_remove(&waiter->ready);
    waiter->sync_owner = NULL;
    thread_wake(waiter, error ? -1 : 0, error);
}

/* Recomputes the priority that a mutex's owner inherits: at least the highest of its waiters. */
void sync_inherit(struct thread *owner);
/* Sets the owner that t, which is in the list and in state MUTEX, waits for. */
void sync_wait_for(struct thread *t, struct thread *owner);
/* Releases a mutex that self owns, in the kernel: hands it to the first waiter. */
void sync_mutex_release(struct thread *self, uintptr_t addr, sync_t *sync);

enum sync_taken {
    SYNC_TAKEN, /* the thread owns it now */
    SYNC_WAIT,  /* the owner keeps it, and SYNC_WAITING is set */
    SYNC_RETRY, /* the word kept changing */
    SYNC_BAD    /* not a mutex, or its owner is not a thread */
};
/* Tries to lock a mutex for t. */
enum sync_taken sync_mutex_take(struct thread *t, uintptr_t addr, sync_t *sync,
                                struct thread **owner);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Mutexes, condition variables and semaphores, for the rest of the kernel. Kernel lock held. */
#ifndef KERNEL_SYNC_SYNC_H
#define KERNEL_SYNC_SYNC_H

#include "abi/errno.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"

void sync_init(void);
extern const struct wait_kind sync_wait;      /* MUTEX, SEM */
extern const struct wait_kind sync_wait_cond; /* CONDVAR */
/* An owner has ended. */
void sync_thread_gone(struct thread *t);

/* ---- for this room's own files ----------------------------------------------------- */

/* A compare-and-swap that fails this often competes with other CPUs' user code: retry after other
 * work. */
#define SYNC_TRIES 16

/* Returns the sync_t at a user address, or NULL and *error (-EINVAL unaligned, -EFAULT). */
sync_t *sync_at(struct process *proc, uintptr_t addr, long *error);
/* Returns the first thread that waits for this sync_t in this state, or NULL. */
struct thread *sync_first(struct process *proc, uintptr_t addr, enum thread_state state);
/* Inserts self, whose state has been set, into the list of waiters, by priority. */
void sync_insert(struct thread *self, uintptr_t addr);
/* The operations of sync_wait; the second one is SEM's and MUTEX's only. */
void sync_requeue(struct thread *t);
bool sync_cancel(struct thread *t, int error);
/* Takes a waiter out of the list and wakes it. */
void sync_wake(struct thread *waiter, int error);

/* Recomputes the priority that a mutex's owner inherits: at least that of its waiters. */
void sync_inherit(struct thread *owner);
/* Sets the owner for which t, listed and in state MUTEX, waits. */
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

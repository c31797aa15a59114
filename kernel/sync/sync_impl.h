/* SPDX-License-Identifier: BSD-2-Clause */
/* What sync.c, sync_mutex.c, sync_cond.c and sync_sem.c share. Kernel lock held. */
#ifndef KERNEL_SYNC_SYNC_IMPL_H
#define KERNEL_SYNC_SYNC_IMPL_H

#include "abi/errno.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/process.h"
#include "kernel/sync/sync.h"

/* A compare-and-swap that fails this often meets other CPUs' user code: let other work pass. */
#define SYNC_TRIES 16

/* The sync_t at a user address: NULL and *error (-EINVAL unaligned, -EFAULT) if it can't be one. */
sync_t *sync_at(struct process *proc, uintptr_t addr, long *error);
/* The first thread that waits for this sync_t in this state, or NULL. */
struct thread *sync_first(struct process *proc, uintptr_t addr, enum thread_state state);
/* self, whose state has been set, waits: into the list, by priority. */
void sync_insert(struct thread *self, uintptr_t addr);
/* The operations of sync_wait; the second one is SEM's and MUTEX's only. */
void sync_requeue(struct thread *t);
bool sync_cancel(struct thread *t, int error);
/* Takes a waiter out of the list and wakes it. */
void sync_wake(struct thread *waiter, int error);

/* The owner of a mutex runs at least as high as those that wait for it: recomputes that. */
void sync_inherit(struct thread *owner);
/* t, which is in the list and in state MUTEX, waits for this owner. */
void sync_wait_for(struct thread *t, struct thread *owner);
/* Gives up a mutex that self owns, in the kernel: to the first waiter. */
void sync_mutex_release(struct thread *self, uintptr_t addr, sync_t *sync);

enum sync_taken {
    SYNC_TAKEN, /* the thread owns it now */
    SYNC_WAIT,  /* *owner has it, and SYNC_WAITING is set */
    SYNC_RETRY, /* the word kept changing */
    SYNC_BAD    /* no mutex, or its owner is no thread */
};
/* Tries to take a mutex for t. */
enum sync_taken sync_mutex_take(struct thread *t, uintptr_t addr, sync_t *sync,
                                struct thread **owner);

#endif

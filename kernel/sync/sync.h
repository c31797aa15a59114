/* SPDX-License-Identifier: BSD-2-Clause */
/* Mutexes, condition variables and semaphores, for the rest of the kernel. Kernel lock held. */
#ifndef KERNEL_SYNC_SYNC_H
#define KERNEL_SYNC_SYNC_H

#include "kernel/thread/thread.h"

void sync_init(void);
extern const struct wait_kind sync_wait;      /* MUTEX, SEM */
extern const struct wait_kind sync_wait_cond; /* CONDVAR */
/* An owner has ended. */
void sync_thread_gone(struct thread *t);

#endif

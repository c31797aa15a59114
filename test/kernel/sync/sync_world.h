/* SPDX-License-Identifier: BSD-2-Clause */
/* A process of as many threads as CPUs, with sync_t of each kind. */
#ifndef TEST_KERNEL_SYNC_SYNC_WORLD_H
#define TEST_KERNEL_SYNC_SYNC_WORLD_H

#include "test/kernel/world/world.h"

#define THREADS 4 /* as many as CPUs, so that all can run */
#define MUTEX(n) (AT(1) + (n) * (uintptr_t)sizeof(sync_t))
#define CONDVAR MUTEX(8)
#define SEMAPHORE MUTEX(10)

extern struct thread *t[THREADS]; /* of priority 10, 20, 30, 40 */

int setup(void **state);
uint32_t word(uintptr_t mutex);
void set_word(uintptr_t mutex, uint32_t value);
long lock(struct thread *, unsigned mutex);
long unlock(struct thread *, unsigned mutex);
/* The thread's next wait in one of these states ends by then. */
void limit(struct thread *, uint32_t states, uint64_t ns);

#endif

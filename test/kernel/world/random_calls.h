/* SPDX-License-Identifier: BSD-2-Clause */
/* Random kernel calls: right and wrong arguments for each. */
#ifndef TEST_KERNEL_WORLD_RANDOM_CALLS_H
#define TEST_KERNEL_WORLD_RANDOM_CALLS_H

#include "test/kernel/world/world.h"

/* Where a process has its sync_t: mutexes, condition variables, semaphores. */
#define SYNCS AT(1)
#define MUTEXES 4
#define CONDVARS 2
#define SEMAPHORES 2
#define SYNC_AT(i) (SYNCS + (i) * (uintptr_t)sizeof(sync_t))

uint64_t random_begin(void); /* the seed */
uint32_t pick(uint32_t n);   /* 0..n-1 */
bool chance(unsigned percent);
/* Any process that is there, or NULL. */
struct process *any_process(void);
/* Does its threads' code leave its sync_t to the protocol? Others write what they like. */
bool honest(const struct process *proc);
/* Chooses a call for t and its arguments. False: t did it by itself, without the kernel. */
bool random_call(struct thread *t, unsigned *number, uintptr_t args[6]);

#endif

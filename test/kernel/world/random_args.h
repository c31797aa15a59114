/* SPDX-License-Identifier: BSD-2-Clause */
/* Random arguments of a kernel call that this thread makes: mostly right, always
 * wrong sometimes. */
#ifndef TEST_KERNEL_WORLD_RANDOM_ARGS_H
#define TEST_KERNEL_WORLD_RANDOM_ARGS_H

#include "test/kernel/world/random_calls.h"

struct thread *any_thread(void);
bool has_client(const struct process *proc);
uintptr_t arg_pid(const struct thread *t);
uintptr_t arg_coid(const struct thread *t);
uintptr_t arg_scoid(const struct thread *t);
uintptr_t arg_chid(const struct process *proc);
uintptr_t arg_rcvid(const struct thread *t);
uintptr_t arg_clock(void);
uint64_t arg_ns(void);
/* One of n sync_t from the first on. */
uintptr_t arg_sync(const struct thread *t, unsigned first, unsigned n);
/* Where something of so many bytes can be written; and something to be read. */
uintptr_t arg_place(const struct thread *t, size_t bytes);
uintptr_t arg_in(const struct thread *t, const void *from, size_t bytes);
uintptr_t arg_event(const struct thread *t);
/* Address and parts of a message buffer, into args[0] and args[1]. */
void arg_buffer(const struct thread *t, uintptr_t *args);

#endif

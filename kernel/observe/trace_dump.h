/* SPDX-License-Identifier: BSD-2-Clause */
/* The state dump, shared by trace_calls.c, trace_dump.c and trace_port.c. Lock held. */
#ifndef KERNEL_OBSERVE_TRACE_DUMP_H
#define KERNEL_OBSERVE_TRACE_DUMP_H

#include "kernel/observe/observe.h"

/* Called when a TRACE_EVENT begins: clears the dump's position, which the program must not
 * choose. */
void trace_dump_none(struct thread *self);
/* Turns the caller's TRACE_EVENT into a dump. then_stop: the dump of a ring that ends; after it the
 * command is executed once more, and trace_dump_is_over() returns true. */
long trace_dump_begin(struct thread *self, bool then_stop);
bool trace_dump_is_over(const struct thread *self);
/* Ends a ring's STOP: stops the recording that was dumped, no later one. In a long call. Returns
 * 0. */
long trace_dump_stop(const struct thread *self);
/* Dumps the next part, for a call whose step is not 0, or a long call's part. */
long trace_dump_continue(struct thread *self, long_call_part *command);
/* Wakes a waiting dump when there may be room, or when tracing may have stopped. */
void trace_dump_wake(void);

/* Charges buffers that are allocated from now on to this process; NULL: to none. */
void trace_port_pay(const struct process *proc);
/* Implements KYMO_TRACE_USERWORD (kernel/observe/trace_port.c). Kernel lock. Returns 0 or
 * -errno. */
long trace_user_word(struct process *proc, uintptr_t address);
/* Implements KYMO_TRACE_USERSITES (kernel/observe/sites/): registers a table. In a long call,
 * kernel lock held; passes windows. Returns 0 or -errno. */
long user_sites_register(struct process *proc, uintptr_t table, size_t count);

#endif

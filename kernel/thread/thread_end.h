/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by thread.c, thread_end.c, thread_calls.c, process.c and exit.c. Kernel lock held. */
#ifndef KERNEL_THREAD_THREAD_END_H
#define KERNEL_THREAD_THREAD_END_H

#include "kernel/thread/thread.h"

/* Frees a thread's slot in both tables. Precondition: it is in no queue and nothing refers to
 * it. */
void thread_free(struct thread *t);
/* Creates the thread that represents a CPU's idle time; never resumed. Boot only. */
struct thread *thread_create_idle(struct process *proc, unsigned cpu);
/* Returns whether ThreadCancel() acts on a thread that is or would be blocked in this state. */
bool thread_cancellable(const struct thread *t, enum thread_state state);
/* Ends a thread with THREAD_DYING that reached the kernel's exit on its own CPU. */
void thread_end_here(struct thread *t);

#endif

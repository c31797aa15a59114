/* SPDX-License-Identifier: BSD-2-Clause */
/* What thread.c, thread_end.c, thread_calls.c, process.c and exit.c share. Kernel lock held. */
#ifndef KERNEL_THREAD_THREAD_END_H
#define KERNEL_THREAD_THREAD_END_H

#include "kernel/thread/thread.h"

/* Gives a thread's place in both tables back. It is in no queue and nobody refers to it. */
void thread_free(struct thread *t);
/* The thread that stands for a CPU's idleness; never resumed. Boot only. */
struct thread *thread_create_idle(struct process *proc, unsigned cpu);
/* Whether ThreadCancel() acts on a thread that is or would be blocked in this state. */
bool thread_cancellable(const struct thread *t, enum thread_state state);
/* A thread with THREAD_DYING reached the kernel's exit of its own CPU. */
void thread_end_here(struct thread *t);

#endif

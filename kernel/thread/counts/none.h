/* SPDX-License-Identifier: BSD-2-Clause */
/* For a kernel whose D has no counters: see kept.h in this folder. */
#ifndef KERNEL_THREAD_COUNTS_H
#define KERNEL_THREAD_COUNTS_H

struct thread;

static inline void thread_counted(struct thread *left)
{
    (void)left;
}

#endif

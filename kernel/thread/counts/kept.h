/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes when threads leave a CPU, for D's variables `cycles` and `instructions`, which count for
 * each thread (kernel/dtrace/count/total.c). Active only while a D program uses one of them: the
 * site cpu_switch is on then, so that every switch of threads comes through these functions. none.h
 * is the alternative; a makefile chooses by -DKERNEL_COUNTS_H.
 */
#ifndef KERNEL_THREAD_COUNTS_H
#define KERNEL_THREAD_COUNTS_H

#include <stdbool.h>

struct thread;

extern bool counts_kept; /* [k] */
void counts_leave(struct thread *left);

/* Called when the thread, or the idle thread, leaves this CPU. Kernel lock held, interrupts
 * masked. */
static inline void thread_counted(struct thread *left)
{
    if (counts_kept) {
        counts_leave(left);
    }
}

#endif

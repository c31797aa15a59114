/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where threads leave a CPU, for D's variables `cycles` and `instructions`, which know what each
 * thread has counted (kernel/dtrace/count/total.c). Only while a D program uses one: the site
 * cpu_switch is on then, so a switch of threads passes here, and at other times nothing does.
 * none.h is beside it; a makefile chooses by -DKERNEL_COUNTS_H.
 */
#ifndef KERNEL_THREAD_COUNTS_H
#define KERNEL_THREAD_COUNTS_H

#include <stdbool.h>

struct thread;

extern bool counts_kept; /* [k] */
void counts_leave(struct thread *left);

/* The thread, or the idle thread, leaves this CPU now. Kernel lock held, interrupts masked. */
static inline void thread_counted(struct thread *left)
{
    if (counts_kept) {
        counts_leave(left);
    }
}

#endif

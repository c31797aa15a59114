/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each thread has counted of the CPU's events, for D's variables `cycles` and `instructions`
 * (kernel/dtrace/count/total.c). Kept only while a D program uses one: the site cpu_switch is on
 * then, so a switch of threads passes here, and at other times nothing does. none.h is beside it; a
 * makefile chooses by -DKERNEL_COUNTS_H.
 */
#ifndef KERNEL_THREAD_COUNTS_H
#define KERNEL_THREAD_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

enum { THREAD_COUNTS = 2 };
struct thread_counts {
    uint64_t total[THREAD_COUNTS]; /* [k] without what this CPU has counted since the switch */
};

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

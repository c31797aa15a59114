/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler: 256 FIFO queues, one global set for all CPUs; FIFO and round robin. Kernel lock
 * held.
 */
#ifndef KERNEL_THREAD_SCHED_H
#define KERNEL_THREAD_SCHED_H

#include "kernel/thread/cpu.h"
#include "kernel/thread/thread.h"

void sched_init(void);
/* A thread can run (state READY is the caller's business: thread_wake). This CPU reschedules at the
 * kernel's exit if need be, and then tells others: an idle one, else the one running the lowest
 * priority below this one's. */
void sched_ready(struct thread *t);
void sched_unready(struct thread *t); /* takes it out of its queue */
/* The thread that this CPU should run now; `self` (may be NULL) is what it ran and still could, if
 * its state is RUNNING. Returns NULL for idle. Does the switch: states,
 * accounting, arch_switch(). */
static inline struct thread *sched_switch(struct cpu *cpu, struct thread *self);
void sched_give_way(struct thread *t);
/* Its priority, runmask or policy changed while RUNNING or READY. */
void sched_changed(struct thread *t);
void sched_quantum(struct cpu *cpu); /* timer work: round robin */
/* Cycles of CPU time of a thread, the running stretch included. */
uint64_t sched_run_cycles(const struct thread *t);

#include "kernel/thread/sched_switch.h"

#endif

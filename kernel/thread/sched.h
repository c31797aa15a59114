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
/* Enqueues a thread that can run (the caller sets state READY: thread_wake). This CPU reschedules
 * at the kernel's exit if needed, and then kicks another CPU: an idle one, else the one running the
 * lowest priority below the thread's. */
void sched_ready(struct thread *t);
void sched_unready(struct thread *t); /* removes it from its queue */
/* Chooses the thread that this CPU runs next; `self` (may be NULL) is the one it ran, which can
 * continue if its state is RUNNING. Returns NULL for idle. Does the whole switch: states,
 * accounting, arch_switch(). */
static inline struct thread *sched_switch(struct cpu *cpu, struct thread *self);
void sched_give_way(struct thread *t);
/* Called when its priority, runmask or policy changed while RUNNING or READY. */
void sched_changed(struct thread *t);
void sched_quantum(struct cpu *cpu); /* timer work: round robin */
/* Returns a thread's CPU time in cycles, including its current run. */
uint64_t sched_run_cycles(const struct thread *t);

#include "kernel/thread/sched_switch.h"

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Crash reports: taken at the fault (fault.c), printed by a thread of the kernel (crash.c). Kernel
 * lock held. */
#ifndef KERNEL_ENTRY_CRASH_H
#define KERNEL_ENTRY_CRASH_H

#include "kernel/arch/entry.h"
#include "kernel/thread/thread.h"

const char *crash_signal_name(int signo); /* "SIGSEGV" */
/* Creates the thread that prints the reports. Called at boot. */
void crash_init(void);
/* Begins the report on t's fault. Returns false if the report is dropped because too many wait. */
bool crash_take(struct thread *t, const struct arch_fault *fault);
/* Takes a few frames of t's stack. Returns false once the report is complete and queued for
 * printing. */
bool crash_take_frames(struct thread *t);
/* Called when t ends: a report that t has not completed is printed as far as it was taken. */
void crash_abandon(struct thread *t);
/* Does the printing thread's next step. Returns KER_AGAIN, or KER_BLOCKED if no report is left or
 * the console is busy. */
long crash_step(struct thread *self);

#endif

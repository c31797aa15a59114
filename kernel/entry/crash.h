/* SPDX-License-Identifier: BSD-2-Clause */
/* Crash reports: taken at the fault (fault.c), printed by a thread of the kernel (crash.c). Kernel
 * lock held. */
#ifndef KERNEL_ENTRY_CRASH_H
#define KERNEL_ENTRY_CRASH_H

#include "kernel/arch/entry.h"
#include "kernel/thread/thread.h"

const char *crash_signal_name(int signo); /* "SIGSEGV" */
/* Creates the thread that prints. Boot. */
void crash_init(void);
/* Begins the report on t's fault. Returns false if it is left out, because too many wait. */
bool crash_take(struct thread *t, const struct arch_fault *fault);
/* Takes a few frames of t's stack. Returns false if the report is complete: it waits to be printed
 * then. */
bool crash_take_frames(struct thread *t);
/* t ends, perhaps amid its report, which is then printed as far as it is. */
void crash_abandon(struct thread *t);
/* The next step of the thread that prints. Returns KER_AGAIN, or KER_BLOCKED: nothing is left, or
 * it waits for the console. */
long crash_step(struct thread *self);

#endif

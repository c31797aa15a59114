/* SPDX-License-Identifier: BSD-2-Clause */
/* The preemption point of long operations (kernel/thread/long_call.c). */
#ifndef KERNEL_BASE_WINDOW_H
#define KERNEL_BASE_WINDOW_H

/*
 * Lets others in between two steps of a long operation: serves interrupts where the port masks them
 * in the kernel; in a long call the thread may lose the CPU, and the kernel lock, until it
 * continues here. What the caller keeps of others' objects may be gone then, unless only long calls
 * end it. Kernel lock held; interrupts not masked by the caller.
 */
void kernel_window(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The preemption point of long operations (kernel/thread/long_call.c). */
#ifndef KERNEL_BASE_WINDOW_H
#define KERNEL_BASE_WINDOW_H

/*
 * Allows other work between two steps of a long operation: serves interrupts if the port masks them
 * in the kernel; in a long call the thread may lose the CPU, and the kernel lock, until it
 * continues here. References that the caller has to others' objects may be stale afterwards, unless
 * only long calls end these objects. Kernel lock held; interrupts not masked by the caller.
 */
void kernel_window(void);

#endif

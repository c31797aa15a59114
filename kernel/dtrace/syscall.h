/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of the kernel call's trace sites for D: see syscall.c. Called only while such a site is
 * on. */
#ifndef KERNEL_DTRACE_SYSCALL_H
#define KERNEL_DTRACE_SYSCALL_H

struct thread;

void dtrace_syscall_entry(const struct thread *self);
void dtrace_syscall_return(const struct thread *self);

#endif

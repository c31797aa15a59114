/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel call's trace sites tell D: see syscall.c. Only while such a site is on. */
#ifndef KERNEL_DTRACE_SYSCALL_H
#define KERNEL_DTRACE_SYSCALL_H

struct thread;

void dtrace_syscall_entry(const struct thread *self);
void dtrace_syscall_return(const struct thread *self);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must be true of the kernel's objects whenever no CPU changes them: kernel lock held, at the
 * end of a kernel call or an interrupt. The tests of test/kernel ask it after each call, a debug
 * kernel at each 64th exit; each check panics with what is wrong. No side effects. Release kernels
 * don't link these files.
 */
#ifndef KERNEL_OBSERVE_DEBUG_CHECK_H
#define KERNEL_OBSERVE_DEBUG_CHECK_H

#include "kernel/base/cpu.h"
#include "kernel/ipc/ipc.h"

/* Checks all of it: processes, threads, channels, connections, CPUs, timers, accounts. */
void kernel_check(void);

/* What the files of kernel_check() share. A list is sound if both directions agree; returns its
 * length. */
unsigned check_list(const struct list *head, const char *what);
bool check_in_list(const struct list *head, const struct list *node);
bool check_is_channel(const struct process *proc, const struct channel *ch);
bool check_is_connection(const struct process *proc, const struct connection *conn);
void check_quotas(void);
void check_channels(const struct process *proc);
void check_connection(const struct process *proc, const struct connection *conn, int coid);

#endif

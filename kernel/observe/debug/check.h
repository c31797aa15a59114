/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The invariants of the kernel's objects, which hold whenever no CPU changes them: kernel lock
 * held, at the end of a kernel call or an interrupt. The tests of test/kernel check them after
 * each call, a debug kernel at each 64th exit; each check panics with a description of the breach.
 * No side effects. Release kernels don't link these files.
 */
#ifndef KERNEL_OBSERVE_DEBUG_CHECK_H
#define KERNEL_OBSERVE_DEBUG_CHECK_H

#include "kernel/base/cpu.h"
#include "kernel/ipc/ipc.h"

/* Checks all objects: processes, threads, channels, connections, CPUs, timers, accounts. */
void kernel_check(void);

/* Functions shared by the files of kernel_check(). A list is sound if both directions agree;
 * check_list() returns its length. */
unsigned check_list(const struct list *head, const char *list_name);
bool check_in_list(const struct list *head, const struct list *node);
bool check_is_channel(const struct process *proc, const struct channel *ch);
bool check_is_connection(const struct process *proc, const struct connection *conn);
void check_quotas(void);
void check_channels(const struct process *proc);
void check_connection(const struct process *proc, const struct connection *conn, int coid);

#endif

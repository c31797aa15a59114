/* SPDX-License-Identifier: BSD-2-Clause */
/* The host files that a process opens by HostCall(). Kernel lock held. */
#ifndef KERNEL_ENTRY_HOST_CALL_H
#define KERNEL_ENTRY_HOST_CALL_H

#include <stdbool.h>

struct process;

/* Closes the files that an ending process has open on the host. */
bool host_process_gone(struct process *proc);

#endif

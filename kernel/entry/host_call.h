/* SPDX-License-Identifier: BSD-2-Clause */
/* HostCall()'s files. Kernel lock held. */
#ifndef KERNEL_ENTRY_HOST_CALL_H
#define KERNEL_ENTRY_HOST_CALL_H

#include <stdbool.h>

struct process;

/* A process ends: closes the files that it has open on the host. */
bool host_process_gone(struct process *proc);

#endif

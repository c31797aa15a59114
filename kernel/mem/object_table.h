/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of memory objects, for kernel/mem/object.c and kernel/mem/object_calls.c only. Kernel
 * lock. */
#ifndef KERNEL_MEM_OBJECT_TABLE_H
#define KERNEL_MEM_OBJECT_TABLE_H

#include "kernel/mem/object.h"

extern struct object objects[CONFIG_OBJECTS];

/* An open object in struct process: its number, from 1, and whether it is open for writing. */
#define OBJECT_NUMBER 0x7f
#define OBJECT_WRITABLE 0x80

int object_close(struct process *proc, uintptr_t id); /* 0 or -EBADF */

#endif

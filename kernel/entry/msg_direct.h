/* SPDX-License-Identifier: BSD-2-Clause */
/* The short way of three kernel calls: see msg_direct.c. */
#ifndef KERNEL_ENTRY_MSG_DIRECT_H
#define KERNEL_ENTRY_MSG_DIRECT_H

#include "kernel/thread/thread.h"

/* Each takes the kernel lock, makes self's call of this number, lets the lock go and returns the
 * thread to resume, as kernel_call() does. */
struct thread *msg_direct_send(struct thread *self, unsigned number);
struct thread *msg_direct_receive(struct thread *self, unsigned number);
struct thread *msg_direct_reply(struct thread *self, unsigned number);

#endif

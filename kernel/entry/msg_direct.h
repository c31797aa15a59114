/* SPDX-License-Identifier: BSD-2-Clause */
/* The fast path of five kernel calls: see msg_direct.c and trace_quick.c. */
#ifndef KERNEL_ENTRY_MSG_DIRECT_H
#define KERNEL_ENTRY_MSG_DIRECT_H

#include "kernel/thread/thread.h"

/* Each takes the kernel lock, executes self's call of this number, releases the lock and returns
 * the thread to resume, like kernel_call(). */
struct thread *msg_direct_send(struct thread *self, unsigned number);
struct thread *msg_direct_receive(struct thread *self, unsigned number);
struct thread *msg_direct_reply(struct thread *self, unsigned number);
struct thread *msg_direct_timeout(struct thread *self, unsigned number);
/* Like msg_direct_<call>(), for a call that has found an event of messages on (msg_listened.c). */
struct thread *msg_listened_send(struct thread *self, unsigned number);
struct thread *msg_listened_receive(struct thread *self, unsigned number);
struct thread *msg_listened_reply(struct thread *self, unsigned number);
/* Like these, but called without the lock (with CONFIG_CPUS 1 the lock counts as held, as
 * always). */
struct thread *trace_quick(struct thread *self, unsigned number);

/* The second fast path (msg_wide.c): executes self's call of this number, by the slow path if the
 * fast one doesn't handle it. Lock held; releases it. */
struct thread *msg_wide_send(struct thread *self, unsigned number);
struct thread *msg_wide_reply(struct thread *self, unsigned number);

#endif

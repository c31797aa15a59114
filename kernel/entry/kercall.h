/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of the kernel calls, and the dispatch table generated from abi/kercalls.def. */
#ifndef KERNEL_ENTRY_KERCALL_H
#define KERNEL_ENTRY_KERCALL_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/thread/thread.h"

#define KERCALL(number, NAME, handler, ...) \
    long ker_##handler(struct thread *self, const uintptr_t *args);
#include "abi/kercalls.def"
#undef KERCALL

#define KERCALL_MAX 128
enum kercall_number {
#define KERCALL(number, NAME, ...) KER_##NAME = number,
#include "abi/kercalls.def"
#undef KERCALL
};

/* Selects whether MsgSendv, MsgReceivev and MsgReplyv try the fast path (msg_direct.c) first. They
 * do unless function probes are enabled, because the fast path runs none of the functions of the
 * general path. Kernel lock held. */
void kercall_use_direct(bool on);
/* TRACE_EVENT's work under the lock. */
long ker_trace_event_locked(struct thread *self, const uintptr_t *args);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Between kercall_quick.c and kercall_trace.c; what others call is in kernel/entry/entry.h. */
#ifndef KERNEL_ENTRY_KERCALL_TRACE_H
#define KERNEL_ENTRY_KERCALL_TRACE_H

#include "kernel/entry/entry.h"

/* The events of a call, for log and D, in any form. The exit: self is in a call. */
void kercall_trace_enter_any(struct thread *self);
void kercall_trace_exit_any(struct thread *self);

#endif

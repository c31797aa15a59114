/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of the kernel calls, and the dispatch table generated from abi/kercalls.def. */
#ifndef KERNEL_BASE_KERCALL_H
#define KERNEL_BASE_KERCALL_H

#include <stdint.h>

struct thread;

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

/* Handles the part of TRACE_EVENT that needs the kernel lock. */
long ker_trace_event_locked(struct thread *self, const uintptr_t *args);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Retained memory (kernel/abi/retain.h, docs/flight.md): what the kernel does with its window. */
#ifndef KERNEL_RETAIN_H
#define KERNEL_RETAIN_H

#include <stdint.h>

struct kymo_panic;
struct thread;

/* Boot, after the system page: says what was found, or makes the window this boot's. */
void retain_start(void);
/* Where a panic leaves its record; NULL: nowhere (an earlier boot's data is there still, whose
 * crash is the one that counts, or the kernel is not yet up). Any context, no lock. */
struct kymo_panic *retain_panic(void);
/* Last in a panic: the record counts from now on, and everything is in the memory itself. Any
 * context, interrupts masked. */
void retain_seal(void);
/* TraceEvent(KYMO_TRACE_*RETAINED). Lock held. */
long retain_command(struct thread *self, uint32_t cmd, const uintptr_t *args);

#endif

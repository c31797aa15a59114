/* SPDX-License-Identifier: BSD-2-Clause */
/* Retained memory (abi/retain.h, docs/guide/flight.md): inside of this room. */
#ifndef KERNEL_OBSERVE_RETAIN_H
#define KERNEL_OBSERVE_RETAIN_H

#include "kernel/observe/observe.h"

struct kymo_panic;
struct kymo_retain_name;

/* Returns the location of a panic's record, or NULL if there is none (the window still holds an
 * earlier boot's data, whose crash takes precedence, or the kernel is not yet initialized). Any
 * context, no lock. */
struct kymo_panic *retain_panic(void);
/* Last step of a panic: makes the record valid and writes everything back to memory. Any context,
 * interrupts masked. */
void retain_seal(void);
/* Claims the names' area of the window for this boot, in steps: a part of a long call, or boot. */
void retain_names_begin(struct kymo_retain_name *table, uint32_t boots);
/* Implements TraceEvent(KYMO_TRACE_*RETAINED). Lock held. */
long retain_command(struct thread *self, uint32_t cmd, const uintptr_t *args);

#endif

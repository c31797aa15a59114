/* SPDX-License-Identifier: BSD-2-Clause */
/* TraceEvent() from any kernel context: trace/interrupt.c. */
#ifndef TRACE_INTERRUPT_H
#define TRACE_INTERRUPT_H

#include "trace/trace.h"

/* Executes the noted commands, if there are any. Kernel context, lock held: the kernel's exit. */
void trace_interrupt_serve(void);

/* Notes a command. Any context. */
void trace_interrupt_note(uint32_t cmd);

/* A call that changes the trace or D begins, and is over: it passes windows at which their state,
 * or the patched sites, are half changed. Noted commands wait meanwhile; the CPU that releases
 * them executes them as it leaves the kernel. Lock held. */
void trace_interrupt_hold(void);
void trace_interrupt_release(void);
/* Returns whether something waits for the release. Lock held. */
bool trace_interrupt_waits(void);

#endif

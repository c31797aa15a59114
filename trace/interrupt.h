/* SPDX-License-Identifier: BSD-2-Clause */
/* TraceEvent() from any kernel context: trace/interrupt.c. */
#ifndef TRACE_INTERRUPT_H
#define TRACE_INTERRUPT_H

#include "trace/trace.h"

/* Executes the requested commands, if there are any. Kernel context, lock held: at the kernel's
 * exit. */
void trace_interrupt_serve(void);

/* Records a command to be executed later. Any context. */
void trace_interrupt_note(uint32_t cmd);

/* Mark the begin and the end of a call that changes the trace or D: it passes windows at which
 * their state, or the patched sites, are half changed. Requested commands wait meanwhile; the CPU
 * that releases them executes them as it leaves the kernel. Lock held. */
void trace_interrupt_hold(void);
void trace_interrupt_release(void);
/* Returns whether a command waits for the release. Lock held. */
bool trace_interrupt_waits(void);

#endif

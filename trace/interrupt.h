/* SPDX-License-Identifier: BSD-2-Clause */
/* TraceEvent() from any kernel context: trace/interrupt.c. */
#ifndef TRACE_INTERRUPT_H
#define TRACE_INTERRUPT_H

#include "trace/trace.h"

/* Executes the noted commands, if there are any. Kernel context, lock held: the kernel's exit. */
void trace_interrupt_serve(void);

/* Notes a command. Any context. */
void trace_interrupt_note(uint32_t cmd);

/* A process's command begins, and is over: noted ones wait meanwhile, because it passes windows at
 * which the trace's state is half changed. Lock held. */
void trace_interrupt_hold(void);
void trace_interrupt_release(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* TraceEvent() from any context of the kernel: trace/interrupt.c. */
#ifndef TRACE_INTERRUPT_H
#define TRACE_INTERRUPT_H

#include "trace/trace.h"

/* What was noted, if anything was. Kernel context, lock held: the kernel's exit. */
void trace_interrupt_serve(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent() for boards' drivers, as kernel/arch/entry.h has it: trace/interrupt_call.c. A kernel
 * in which nothing calls it leaves this file out (scripts/board.mk). Any context. Tested by
 * test/board/interrupt.
 */
#include "kernel/arch/entry.h"
#include "trace/trace.h"

long kernel_trace_event(uint32_t cmd, const uint32_t args[4], const void *data)
{
    return trace_interrupt(cmd, args, data);
}

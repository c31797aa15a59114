/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent() for boards' drivers, declared by kernel/arch/entry.h: trace/interrupt_call.c.
 * scripts/board.mk leaves this file out of a kernel in which nothing calls it. Any context. Tested
 * by test/board/interrupt.
 */
#include "kernel/arch/entry.h"
#include "trace/trace.h"

long kernel_trace_event(uint32_t cmd, const uint32_t args[4], const void *data)
{
    return trace_interrupt(cmd, args, data);
}

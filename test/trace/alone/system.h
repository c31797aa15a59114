/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system's part of the trace port (TRACE_PORT_SYSTEM_H, trace/port.h) of a program that has
 * nothing but a clock and a mask: one CPU, no threads, no exit from a kernel.
 */
#ifndef TEST_TRACE_ALONE_SYSTEM_H
#define TEST_TRACE_ALONE_SYSTEM_H

#define TRACE_PORT_EXIT_WORK 1u

extern bool alone_exit_wanted;
extern volatile uint32_t alone_ticks;
#define TRACE_PORT_REQUEST_EXIT(cpu) ((void)(cpu), (void)(alone_exit_wanted = true))

struct trace_cpu *alone_cpu(void);

static inline struct trace_cpu *trace_port_cpu(void)
{
    return alone_cpu();
}

static inline uint32_t trace_port_remembered(void)
{
    return 0;
}

#endif

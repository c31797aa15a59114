/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the trace.h of ports whose kernel runs with interrupts masked: neither has the trace
 * port to mask them, nor has anything to be pended for the work at the kernel's exit, which checks
 * exit_work. trace/ includes this, so it includes nothing of the kernel.
 */
#ifndef KERNEL_ARCH_TRACE_MASKED_H
#define KERNEL_ARCH_TRACE_MASKED_H

#include <stdint.h>

#define TRACE_PORT_EXIT_WORK 8u
#define TRACE_PORT_REQUEST_EXIT(cpu) \
    ((void)__atomic_fetch_or(&(cpu)->exit_work, TRACE_PORT_EXIT_WORK, __ATOMIC_RELAXED))

static inline __attribute__((always_inline)) uintptr_t trace_port_irq_save(void)
{
    return 0;
}

static inline __attribute__((always_inline)) void trace_port_irq_restore(uintptr_t state)
{
    (void)state;
}

#endif

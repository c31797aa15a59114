/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's part of the trace port (TRACE_PORT_SYSTEM_H, trace/port.h). trace/ includes this, so
 * it includes nothing of the kernel. struct trace_cpu is the first member of struct cpu.
 */
#ifndef KERNEL_ARCH_ARMV7M_TRACE_H
#define KERNEL_ARCH_ARMV7M_TRACE_H

#define TRACE_PORT_EXIT_WORK 8u
/* A plain store suffices: there is one CPU, and interrupts are masked. Pends PendSV. */
#define TRACE_PORT_REQUEST_EXIT(cpu) \
    ((cpu)->exit_work |= TRACE_PORT_EXIT_WORK, *(volatile uint32_t *)0xe000ed04 = 1u << 28)

static inline __attribute__((always_inline)) struct trace_cpu *trace_port_cpu(void)
{
    struct trace_cpu *cpu;
    /* Loaded by asm, because the compiler must not assume that this can't alias the kernel's
     * `cpus`. */
    __asm__("ldr %0, =cpus" : "=r"(cpu));
    return cpu;
}

#include "kernel/arch/trace_thread.h"

#endif

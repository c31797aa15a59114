/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's part of the trace port (TRACE_PORT_SYSTEM_H, trace/port.h). trace/ includes this, so
 * it includes nothing of the kernel. TPIDR_EL1 is struct cpu, whose first member is struct
 * trace_cpu.
 */
#ifndef KERNEL_ARCH_AARCH64_TRACE_H
#define KERNEL_ARCH_AARCH64_TRACE_H

/* The high half of the kernel's addresses (KERNEL_VIRT of kernel/arch/aarch64/shared.h). */
#define TRACE_PORT_CODE_HIGH 0xffffff80u

static inline __attribute__((always_inline)) struct trace_cpu *trace_port_cpu(void)
{
    struct trace_cpu *cpu;
    __asm__("mrs %0, tpidr_el1" : "=r"(cpu));
    return cpu;
}

/* At EL1 interrupts are masked from the first instruction to the last: boot.S masks all, an
 * exception masks, nothing unmasks. */
#include "kernel/arch/trace_masked.h"
#include "kernel/arch/trace_thread.h"

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's part of the trace port (TRACE_PORT_SYSTEM_H, trace/port.h). trace/ includes this, so
 * it includes nothing of the kernel. The word at the GS base is the address of struct cpu, whose
 * first member is struct trace_cpu.
 */
#ifndef KERNEL_ARCH_X86_64_TRACE_H
#define KERNEL_ARCH_X86_64_TRACE_H

/* The high half of the kernel's addresses (KERNEL_VIRT of kernel/arch/x86_64/shared.h). */
#define TRACE_PORT_CODE_HIGH 0xffffffffu

static inline __attribute__((always_inline)) struct trace_cpu *trace_port_cpu(void)
{
    struct trace_cpu *cpu;
    __asm__("mov %%gs:0, %0" : "=r"(cpu));
    return cpu;
}

/* Wherever the kernel traces, interrupts are masked (kernel/arch/x86_64/apic.c). */
#include "kernel/arch/trace_masked.h"
#include "kernel/arch/trace_thread.h"

#endif

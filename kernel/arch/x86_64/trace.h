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

#define TRACE_PORT_EXIT_WORK 8u
/* Nothing has to be pended: the kernel checks exit_work when it leaves. */
#define TRACE_PORT_REQUEST_EXIT(cpu) \
    ((void)__atomic_fetch_or(&(cpu)->exit_work, TRACE_PORT_EXIT_WORK, __ATOMIC_RELAXED))

static inline __attribute__((always_inline)) struct trace_cpu *trace_port_cpu(void)
{
    struct trace_cpu *cpu;
    __asm__("mov %%gs:0, %0" : "=r"(cpu));
    return cpu;
}

/* Nothing has to be done: wherever the kernel traces, interrupts are masked
 * (kernel/arch/x86_64/apic.c). */
static inline __attribute__((always_inline)) uintptr_t trace_port_irq_save(void)
{
    return 0;
}

static inline __attribute__((always_inline)) void trace_port_irq_restore(uintptr_t state)
{
    (void)state;
}

#include "kernel/arch/trace_thread.h"

#endif

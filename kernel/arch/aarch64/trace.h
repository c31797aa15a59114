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

#define TRACE_PORT_EXIT_WORK 8u
/* Nothing has to be pended: the kernel checks exit_work when it leaves. */
#define TRACE_PORT_REQUEST_EXIT(cpu) \
    ((void)__atomic_fetch_or(&(cpu)->exit_work, TRACE_PORT_EXIT_WORK, __ATOMIC_RELAXED))

static inline __attribute__((always_inline)) struct trace_cpu *trace_port_cpu(void)
{
    struct trace_cpu *cpu;
    __asm__("mrs %0, tpidr_el1" : "=r"(cpu));
    return cpu;
}

/* Nothing has to be done: at EL1 interrupts are masked from the first instruction to the last
 * (boot.S masks all, an exception masks, nothing unmasks). arch_irq_save() relies on that, too. */
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

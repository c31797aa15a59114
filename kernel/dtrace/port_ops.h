/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's inlines for the D machine's port, see trace/dtrace/port.h; the rest is in port.c. */
#ifndef KERNEL_DTRACE_PORT_OPS_H
#define KERNEL_DTRACE_PORT_OPS_H

#include "kernel/base/cpu.h"
#include "kernel/arch/cpu.h"
#include "kernel/thread/thread.h"
#include "kernel/time/time.h"
#include KERNEL_COUNTERS_H /* DTRACE_PORT_COUNTS */

#define DTRACE_PORT_ALIGN 1 /* as in other DTrace ports to ARM, though the CPUs allow such loads */
#define DTRACE_PORT_STOPS 0 /* the kernel has no stopped processes */
#define DTRACE_PORT_USERS 0
#define DTRACE_PORT_HELPERS CONFIG_D_HELPERS

static inline unsigned dtrace_port_cpu(void)
{
    return CONFIG_CPUS == 1 ? 0 : arch_cpu()->id;
}

static inline uintptr_t dtrace_port_irq_save(void)
{
    return arch_irq_save();
}

static inline void dtrace_port_irq_restore(uintptr_t state)
{
    arch_irq_restore(state);
}

static inline uint64_t dtrace_port_timestamp(void)
{
    uint64_t stamp = arch_cpu()->trace.stamp;

    return unlikely(stamp != 0) ? clock_cycles_to_ns(stamp) : clock_now_ns();
}

/* Returns the thread on this CPU, or the idle thread. */
static inline struct thread *dtrace_port_thread(void)
{
    struct cpu *cpu = arch_cpu();

    return cpu->current ? cpu->current : cpu->idle;
}

static inline struct dtrace_thread *dtrace_port_thread_state(void)
{
    return &dtrace_port_thread()->dtrace;
}

/* struct process is incomplete in this file. */
static inline uint32_t dtrace_port_thread_pid(const struct thread *t)
{
    return (uint32_t)t->pid;
}

/* Ids are reused late, and then with another generation of the thread's slot. */
static inline uint64_t dtrace_port_thread_key(void)
{
    const struct thread *t = dtrace_port_thread();

    return (uint64_t)dtrace_port_thread_pid(t) << 32 | (uint32_t)t->generation << 16 |
           (uint16_t)t->tid;
}

#endif

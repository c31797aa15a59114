/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the ports' trace.h: the part of the trace port (TRACE_PORT_SYSTEM_H, trace/port.h) that
 * looks up the current thread. trace/ includes this, so it includes nothing of the kernel: the byte
 * offsets are generated from kernel/observe/offsets.c.
 */
#ifndef KERNEL_ARCH_TRACE_THREAD_H
#define KERNEL_ARCH_TRACE_THREAD_H

#include TRACE_OFFSETS_H

static inline __attribute__((always_inline)) uint32_t trace_port_remembered(void)
{
    const char *cpu = (const char *)trace_port_cpu();
    const void *t = *(struct thread *const *)(const void *)(cpu + TRACE_PORT_THREAD);

    return t ? *(const uint32_t *)(const void *)((const char *)t + TRACE_PORT_REMEMBERED) : 0;
}

#endif

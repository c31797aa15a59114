/* SPDX-License-Identifier: BSD-2-Clause */
/* The D machine's seam, its inlines, where a CPU is a thread. Nothing fires within a probe
 * firing. */
#ifndef TEST_TOOL_THREADS_D_OPS_H
#define TEST_TOOL_THREADS_D_OPS_H

#define DTRACE_PORT_ALIGN 0
#define DTRACE_PORT_STOPS 1
#define DTRACE_PORT_USERS 1
#define DTRACE_PORT_COUNTS 0
#define DTRACE_PORT_HELPERS 0

extern _Thread_local unsigned thread_cpu;

static inline unsigned dtrace_port_cpu(void)
{
    return thread_cpu;
}
static inline uintptr_t dtrace_port_irq_save(void)
{
    return 0;
}
static inline void dtrace_port_irq_restore(uintptr_t state)
{
    (void)state;
}
static inline uint64_t dtrace_port_timestamp(void)
{
    return 1;
}
static inline struct dtrace_thread *dtrace_port_thread_state(void)
{
    static _Thread_local struct dtrace_thread state;

    return &state;
}
static inline uint64_t dtrace_port_thread_key(void)
{
    return thread_cpu + 1;
}

#endif

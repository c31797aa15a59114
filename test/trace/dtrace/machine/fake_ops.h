/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D machine's seam in these tests, its inlines: one thread, what they answer is set by the
 * test.
 */
#ifndef TEST_TRACE_DTRACE_MACHINE_FAKE_OPS_H
#define TEST_TRACE_DTRACE_MACHINE_FAKE_OPS_H

#include "test/trace/dtrace/machine/fake.h"

#define DTRACE_PORT_ALIGN (fake.align)
#define DTRACE_PORT_STOPS (!fake.cannot_stop)
#define DTRACE_PORT_USERS 1
#define DTRACE_PORT_COUNTS 1
#define DTRACE_PORT_HELPERS (!fake.cannot_help)

static inline unsigned dtrace_port_cpu(void)
{
    return fake.cpu;
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
    return fake.now += 1000;
}

static inline struct dtrace_thread *dtrace_port_thread_state(void)
{
    if (fake.state_of != fake.thread) { /* another thread remembers nothing of this one's */
        fake.state_of = fake.thread;
        fake.state.scalar = 0;
    }
    return &fake.state;
}

static inline uint64_t dtrace_port_thread_key(void)
{
    return fake.thread;
}

#endif

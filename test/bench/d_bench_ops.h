/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D machine's seam where its instructions are counted: one CPU, a clock that is a counter, no
 * interrupts. So what is counted is the machine alone.
 */
#ifndef TEST_BENCH_D_BENCH_OPS_H
#define TEST_BENCH_D_BENCH_OPS_H

#include <stdint.h>

#include "trace/dtrace/thread.h"

#define DTRACE_PORT_ALIGN 0
#define DTRACE_PORT_STOPS 1
#define DTRACE_PORT_USERS 1
#define DTRACE_PORT_COUNTS 0
#define DTRACE_PORT_HELPERS 0

extern uint64_t bench_clock;
extern struct dtrace_thread bench_thread;

static inline unsigned dtrace_port_cpu(void)
{
    return 0;
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
    return bench_clock;
}

static inline struct dtrace_thread *dtrace_port_thread_state(void)
{
    return &bench_thread;
}

static inline uint64_t dtrace_port_thread_key(void)
{
    return 1;
}

#endif

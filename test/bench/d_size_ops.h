/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D machine's seam for measuring its text: what a Cortex-M with one CPU and PRIMASK would have.
 * Nothing of it runs.
 */
#ifndef TEST_BENCH_D_SIZE_OPS_H
#define TEST_BENCH_D_SIZE_OPS_H

#define DTRACE_PORT_ALIGN 0
#define DTRACE_PORT_STOPS 1
#define DTRACE_PORT_USERS 0
#define DTRACE_PORT_COUNTS 0
#define DTRACE_PORT_HELPERS 0

struct d_size_thread {
    uint64_t key;
    struct dtrace_thread dtrace;
};
extern struct d_size_thread *d_size_thread;
uint64_t d_size_clock(void);

static inline unsigned dtrace_port_cpu(void)
{
    return 0;
}

static inline uintptr_t dtrace_port_irq_save(void)
{
    uintptr_t state;

    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(state) : : "memory");
    return state;
}

static inline void dtrace_port_irq_restore(uintptr_t state)
{
    __asm__ volatile("msr primask, %0" : : "r"(state) : "memory");
}

static inline uint64_t dtrace_port_timestamp(void)
{
    return d_size_clock();
}

static inline struct dtrace_thread *dtrace_port_thread_state(void)
{
    return &d_size_thread->dtrace;
}

static inline uint64_t dtrace_port_thread_key(void)
{
    return d_size_thread->key;
}

#endif

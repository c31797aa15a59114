/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D machine's port of the target `self`, its inlines. A "CPU" of self is a lock: the thread
 * that holds it is that CPU, and no other probe fires there meanwhile. Timer threads become their
 * CPU while they fire; the control thread becomes one in dtrace_port_run_on(). cpu.c has the rest.
 */
#ifndef HOST_SELF_PORT_OPS_H
#define HOST_SELF_PORT_OPS_H

#include <sched.h>
#include <time.h>

#include "trace/dtrace/thread.h"

#define DTRACE_PORT_ALIGN 0 /* as on the classic engine's x86: such loads just work */
#define DTRACE_PORT_STOPS 0 /* the only process is the tracer: none could continue it */
#define DTRACE_PORT_USERS 1
#define DTRACE_PORT_COUNTS 0
#define DTRACE_PORT_HELPERS 1

struct self_thread {
    unsigned cpu;        /* which CPU we are, or would be */
    unsigned depth;      /* of dtrace_port_irq_save(): above 0 we hold the CPU's lock */
    const void *outside; /* where the machine was entered: stacks begin there */
    struct dtrace_thread dtrace;
    uint64_t key; /* 0: none given yet */
};
extern _Thread_local struct self_thread self_thread;
extern unsigned char self_cpu_lock[];
uint64_t self_thread_new_key(void);

static inline unsigned dtrace_port_cpu(void)
{
    return self_thread.cpu;
}

static inline uintptr_t dtrace_port_irq_save(void)
{
    if (self_thread.depth++ == 0) {
        while (__atomic_exchange_n(&self_cpu_lock[self_thread.cpu], 1, __ATOMIC_ACQUIRE)) {
            sched_yield();
        }
    }
    return 0;
}

static inline void dtrace_port_irq_restore(uintptr_t state)
{
    (void)state;
    if (--self_thread.depth == 0) {
        __atomic_store_n(&self_cpu_lock[self_thread.cpu], 0, __ATOMIC_RELEASE);
    }
}

static inline uint64_t dtrace_port_timestamp(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline struct dtrace_thread *dtrace_port_thread_state(void)
{
    return &self_thread.dtrace;
}

static inline uint64_t dtrace_port_thread_key(void)
{
    if (self_thread.key == 0) {
        self_thread.key = self_thread_new_key();
    }
    return self_thread.key;
}

#endif

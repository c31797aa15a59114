/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D machine's seam in these tests, its inlines: one thread, what they answer is set by the
 * test.
 */
#ifndef TEST_D_MACHINE_FAKE_OPS_H
#define TEST_D_MACHINE_FAKE_OPS_H

#include "test/d_machine/fake.h"

#define D_PORT_ALIGN (fake.align)
#define D_PORT_STOPS (!fake.cannot_stop)

static inline unsigned d_port_cpu(void)
{
    return fake.cpu;
}

static inline uintptr_t d_port_irq_save(void)
{
    return 0;
}

static inline void d_port_irq_restore(uintptr_t state)
{
    (void)state;
}

static inline uint64_t d_port_timestamp(void)
{
    return fake.now += 1000;
}

static inline uint32_t *d_port_predicate_cache(void)
{
    return &fake.predicate_cache;
}

static inline uint64_t d_port_thread_key(void)
{
    return fake.thread;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace port whose sites are all off, whose clock stands, and whose slots nobody reads: see
 * trace/port.h. */
#ifndef TEST_KERNEL_FAKE_FAKE_TRACE_H
#define TEST_KERNEL_FAKE_FAKE_TRACE_H

#include "test/kernel/fake/fake_trace_port.h"

static inline uint64_t trace_port_clock(void)
{
    return 0;
}
static inline uint32_t trace_port_clock_low(void)
{
    return 0;
}
static inline struct trace_slot *trace_port_put(struct trace_slot *slot, uint32_t header,
                                                uint32_t time, uint32_t d1, uint32_t d2)
{
    *slot = (struct trace_slot){.header = header, .time = time, .d1 = d1, .d2 = d2};
    return slot + 1;
}
static inline struct trace_cpu *trace_port_cpu(void)
{
    return NULL;
}
static inline __attribute__((always_inline)) enum trace_site_mode trace_port_site(unsigned id)
{
    (void)id;
    return TRACE_SITE_OFF;
}
static inline __attribute__((always_inline)) bool trace_port_site_on(unsigned id)
{
    (void)id;
    return false;
}

#endif

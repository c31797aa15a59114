/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace port whose sites are all on, or all off; the events end in fake.c, which counts them. */
#ifndef TEST_UNIT_IPC_FAKE_TRACE_H
#define TEST_UNIT_IPC_FAKE_TRACE_H

#include "test/unit_kernel/fake_trace_port.h"

extern struct trace_cpu fake_trace_cpu;
extern bool fake_events_off;

static inline struct trace_cpu *trace_port_cpu(void)
{
    return &fake_trace_cpu;
}
static inline __attribute__((always_inline)) enum trace_site_mode trace_port_site(unsigned id)
{
    (void)id;
    return fake_events_off ? TRACE_SITE_OFF : TRACE_SITE_LOG;
}
static inline __attribute__((always_inline)) bool trace_port_site_on(unsigned id)
{
    (void)id;
    return !fake_events_off;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace port whose sites are all off: see trace/port.h. */
#ifndef TEST_UNIT_KERNEL_FAKE_TRACE_H
#define TEST_UNIT_KERNEL_FAKE_TRACE_H

#include "test/unit_kernel/fake_trace_port.h"

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

/* SPDX-License-Identifier: BSD-2-Clause */
/* Likewise of a CPU whose port leaves the clock to the system: trace/port/armv6m.h. */
#ifndef TEST_TRACE_ALONE_SYSTEM_M0_H
#define TEST_TRACE_ALONE_SYSTEM_M0_H

#include "test/trace/alone/system.h"

static inline uint32_t trace_port_clock_low(void)
{
    return alone_ticks;
}

#endif

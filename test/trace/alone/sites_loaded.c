/* SPDX-License-Identifier: BSD-2-Clause */
/* The sites of a CPU whose port loads them: trace/port/loaded.h. */
#include "trace/event_id.h"
#include "trace/port.h"

volatile uint8_t trace_port_sites[TRACE_EV_COUNT];

void trace_port_site_set(unsigned id, enum trace_site_mode mode)
{
    trace_port_sites[id] = (uint8_t)mode;
}

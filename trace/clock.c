/* SPDX-License-Identifier: BSD-2-Clause */
/* Stamps and the software clock. See trace/clock.h. */
#include "trace/clock.h"

#include "trace/trace.h"

/* Exact if called at least once per wrap of the 32-bit timer. */
static uint64_t extend(struct trace_cpu *cpu, uint32_t low)
{
    cpu->clock += (uint32_t)(low - (uint32_t)cpu->clock);
    return cpu->clock;
}

uint64_t trace_clock_extend(uint32_t low)
{
    return extend(trace_port_cpu(), low);
}

void trace_clock_wrapped(struct trace_cpu *cpu)
{
    extend(cpu, trace_port_clock_low());
    cpu->limit = NULL;
}

uint64_t trace_clock_stamp(struct trace_cpu *cpu, uint32_t more)
{
    uint64_t now = trace_port_clock();
    uint64_t last = trace_clock_last(cpu);
    uint64_t stamp = now > last ? now : last + 1;

    if ((uint32_t)stamp > UINT32_MAX - more) {
        stamp = ((stamp >> 32) + 1) << 32;
    }
    cpu->time_ahead = (stamp >> 32) != (now >> 32);
    return stamp;
}

void trace_clock_set_high(struct trace_cpu *cpu, uint64_t stamp)
{
    cpu->time_high = (uint32_t)(stamp >> 32);
    cpu->wrap = ((stamp >> 32) + 1) << 32;
}

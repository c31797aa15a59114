/* SPDX-License-Identifier: BSD-2-Clause */
/* Stamps and the software clock. See trace/clock.h. */
#include "trace/clock.h"

#include "trace/trace.h"

/* Reads the clock outside the log: see the invariant in trace/clock.h. */
uint64_t trace_clock_extend(uint32_t low)
{
    struct trace_cpu *cpu = trace_port_cpu();
    uint64_t now = trace_clock_extended(cpu, low);

    if (now >> 32 != cpu->time_high) {
        cpu->limit = cpu->full = NULL;
    }
    return now;
}

uint64_t trace_clock_stamp(struct trace_cpu *cpu, uint32_t more)
{
    uint64_t now = trace_clock_now(cpu);
    uint64_t last = trace_clock_last(cpu);
    uint64_t stamp = now > last ? now : last + 1;

    if ((uint32_t)stamp > UINT32_MAX - more) {
        stamp = ((stamp >> 32) + 1) << 32;
    }
    cpu->time_ahead = (stamp >> 32) != (now >> 32);
    return stamp;
}

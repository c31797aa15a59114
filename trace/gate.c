/* SPDX-License-Identifier: BSD-2-Clause */
/* See gate.h. */
#include "trace/gate.h"

#include "trace/filter.h"
#include "trace/control.h"

uint32_t trace_gate_armed;

void trace_gate_arm(bool armed)
{
    __atomic_store_n(&trace_gate_armed, armed, __ATOMIC_RELEASE);
    trace_filter_slow();
    trace_filter_apply(trace_state.running);
}

bool trace_gate_stops(unsigned class, unsigned site, unsigned number, const uint64_t *words)
{
    if (!__atomic_load_n(&trace_gate_armed, __ATOMIC_ACQUIRE)) {
        return false;
    }
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();
    bool stops = cpu->on && !trace_port_passes(site, number, words);

    if (stops) {
        cpu->stopped[class]++;
    }
    trace_port_irq_restore(irq);
    return stops;
}

void trace_gate_count(const struct trace_cpu *cpu, uint64_t stopped[TRACE_CLASS_MAX])
{
    for (unsigned class = 0; class < TRACE_CLASS_MAX; class ++) {
        stopped[class] = cpu->stopped[class];
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The log's gate: see gate.h. */
#include "trace/gate.h"

#include "abi/errno.h"
#include "trace/atomic.h"
#include "trace/control.h"
#include "trace/event_id.h"
#include "trace/filter.h"

uint32_t trace_gate_armed;

static void gate_arm(bool armed)
{
    trace_atomic_store(&trace_gate_armed, armed, __ATOMIC_RELEASE);
    trace_filter_slow();
    trace_filter_apply(trace_state.running);
}

int trace_gate_open(const char *name, struct kymo_trace_refusal *why)
{
    if (!trace_state.log.block) {
        return -EFAULT;
    }
    if (trace_gate_armed) {
        return -EEXIST;
    }
    int error = trace_port_gate(name, why);
    if (!error) {
        gate_arm(true);
    }
    return error;
}

/* Queries run with interrupts masked: after a cross-call none is in progress. */
static void gate_nothing(void *arg)
{
    (void)arg;
}

void trace_gate_close(void)
{
    if (trace_gate_armed) {
        gate_arm(false);
        trace_port_run_on_all(gate_nothing, NULL);
        trace_port_gate(NULL, NULL);
    }
}

bool trace_gate_stops(unsigned slot_class, unsigned site, unsigned number, const uint64_t *words)
{
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();
    bool armed = trace_atomic_load(&trace_gate_armed, __ATOMIC_ACQUIRE);
    /* Names pass: the events that pass are identified only by them. */
    bool names = site == TRACE_EV_proc_create_name || site == TRACE_EV_thread_name;
    bool stops = armed && cpu->on && !names && !trace_port_passes(site, number, words);

    if (stops) {
        cpu->stopped[slot_class]++;
    }
    trace_port_irq_restore(irq);
    return stops;
}

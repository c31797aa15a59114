/* SPDX-License-Identifier: BSD-2-Clause */
/* The log's trigger: see trigger.h. */
#include "trace/trigger.h"

#include "trace/atomic.h"
#include "trace/port.h"
#include "trace/ring.h"

/* FIRED comes with the number of its CPU, which alone reports it: at that CPU's exit the clause's
 * event is logged. */
enum { NONE, TOLD, FIRED };
static uint32_t trigger; /* [a] */

void trace_trigger(void)
{
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();

    if (cpu->on && trace_atomic_cas(&trigger, NONE, FIRED + cpu->id, __ATOMIC_ACQ_REL)) {
        TRACE_PORT_REQUEST_EXIT(cpu);
    }
    trace_port_irq_restore(irq);
}

void trace_trigger_reset(void)
{
    trace_atomic_store(&trigger, NONE, __ATOMIC_RELEASE);
}

bool trace_trigger_take(const struct trace_cpu *cpu)
{
    return trace_atomic_cas(&trigger, FIRED + cpu->id, TOLD, __ATOMIC_ACQ_REL);
}

bool trace_trigger_fired(void)
{
    return trace_atomic_load(&trigger, __ATOMIC_ACQUIRE) != NONE;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* See trigger.h. */
#include "trace/trigger.h"

#include "trace/port.h"
#include "trace/ring.h"

/* FIRED and the number of its CPU, which alone reports it: at its exit the clause's event is
 * logged. */
enum { NONE, TOLD, FIRED };
static uint32_t trigger; /* [a] */

void trace_trigger(void)
{
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();
    uint32_t none = NONE;

    if (cpu->on && __atomic_compare_exchange_n(&trigger, &none, FIRED + cpu->id, false,
                                               __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        TRACE_PORT_REQUEST_EXIT(cpu);
    }
    trace_port_irq_restore(irq);
}

void trace_trigger_reset(void)
{
    __atomic_store_n(&trigger, NONE, __ATOMIC_RELEASE);
}

bool trace_trigger_tell(const struct trace_cpu *cpu)
{
    uint32_t fired = FIRED + cpu->id;

    return __atomic_compare_exchange_n(&trigger, &fired, TOLD, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

bool trace_trigger_fired(void)
{
    return __atomic_load_n(&trigger, __ATOMIC_ACQUIRE) != NONE;
}

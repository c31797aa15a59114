/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe that fires inside a clause on the same CPU, in a function that the machine or its port
 * calls. Its clauses can't run: contexts and buffers are in use. Each counts as a drop. Own CPU,
 * interrupts masked, during another probe firing, but not between any two of its instructions (an
 * NMI): that would miscount. Tested by test/d_fire.
 */
#include "trace/atomic.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/port.h"

void dtrace_probe_nested(const struct dtrace_probe *p)
{
    unsigned cpu = dtrace_port_cpu();

    for (const struct dtrace_ecb *e = trace_atomic_load(&p->ecbs, __ATOMIC_ACQUIRE); e;
         e = trace_atomic_load(&e->next, __ATOMIC_ACQUIRE)) {
        struct dtrace_consumer_cpu *here = &e->consumer->cpus[cpu];
        uint32_t state = trace_atomic_load(&e->consumer->state, __ATOMIC_ACQUIRE);
        here->principal.drops += here->traced && (e->states >> state & 1);
    }
}

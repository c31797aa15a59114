/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code of a site that serves every enabling (TRACE_SITE_ALL): the event log, if it takes the event,
 * then D's probes on the site, with all arguments of the entry's wider form as 64-bit words. One
 * function trace_fire_<name>() for each entry of events.def, generated. Any context. Tested by
 * test/trace/rows_test.c.
 */
#include "abi/sys/trace.h"
#include "trace/filter.h"
#include "trace/gate.h"
#include "trace/hook.h"
#include "trace/stamp.h"
#include "trace/threads.h"

uintptr_t trace_stamp_begin(void)
{
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();

    cpu->unstamped = trace_clock_last(cpu);
    return irq;
}

void trace_stamp_take(void)
{
    struct trace_cpu *cpu = trace_port_cpu();
    uint64_t last = trace_clock_last(cpu); /* it increases with each event */

    if (!cpu->fired) { /* otherwise the event is in a function that a clause calls */
        cpu->stamp = last == cpu->unstamped ? 0 : last;
    }
}

void trace_stamp_end(uintptr_t irq)
{
    struct trace_cpu *cpu = trace_port_cpu();

    if (!cpu->fired) {
        cpu->stamp = 0;
    }
    trace_port_irq_restore(irq);
}

#include "build/gen/trace_fire.inc.h"

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Firing a probe by its number: for systems whose providers don't look their probes up themselves
 * (docs/guide/elsewhere.md). Boards do without it. Probe context. Tested by test/trace/dtrace/fire.
 */
#include "trace/dtrace/port.h"
#include "trace/dtrace/probe.h"

void dtrace_fire(uint32_t probe, uint64_t arg0, uint64_t arg1, uint64_t arg2, uint64_t arg3,
                 uint64_t arg4)
{
    const struct dtrace_probe *p = dtrace_probe_at(probe);

    if (!dtrace_probe_skips(p)) {
        uintptr_t irq = dtrace_port_irq_save();
        dtrace_probe_fire(p, (const uint64_t[]){arg0, arg1, arg2, arg3, arg4});
        dtrace_port_irq_restore(irq);
    }
}

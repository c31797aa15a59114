/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists all probes, for targets on the host. Boards answer in pieces (control_answer.c) and leave
 * this file out. Control context. Tested by test/trace/dtrace/fire.
 */
#include "trace/dtrace/probe.h"

bool dtrace_probe_next(uint32_t after, struct dtrace_probe_names *names)
{
    if (after >= dtrace_probe_count) {
        return false;
    }
    const struct dtrace_probe *p = dtrace_probe_at(after + 1);
    *names = (struct dtrace_probe_names){p->id, p->provider, p->module, p->function, p->name};
    return true;
}

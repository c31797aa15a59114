/* SPDX-License-Identifier: BSD-2-Clause */
/* A log without a gate: see trace/gate.h. SETGATE fails with -ENOTSUP. */
#include "trace/gate.h"

#include "abi/errno.h"

uint32_t trace_gate_armed;

int trace_gate_open(const char *name, struct kymo_trace_refusal *why)
{
    (void)name;
    (void)why;
    return -ENOTSUP;
}

void trace_gate_close(void)
{
}

bool trace_gate_stops(unsigned slot_class, unsigned site, unsigned number, const uint64_t *words)
{
    (void)slot_class;
    (void)site;
    (void)number;
    (void)words;
    return false;
}

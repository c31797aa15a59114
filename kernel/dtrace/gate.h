/* SPDX-License-Identifier: BSD-2-Clause */
/* The event log's gate by a D program: gate.c. What the providers report about their probes. */
#ifndef KERNEL_DTRACE_GATE_H
#define KERNEL_DTRACE_GATE_H

#include <stdbool.h>

#include "trace/dtrace/probe.h"

/* Returns whether events of the log belong to this probe: their site (TRACE_EV_*), and for a thread
 * state the state, for a kernel call the call. Control context. */
bool dtrace_sites_event(const struct dtrace_probe *, unsigned *site, unsigned *number);
bool dtrace_syscall_event(const struct dtrace_probe *, unsigned *site, unsigned *number);

#endif

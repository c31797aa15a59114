/* SPDX-License-Identifier: BSD-2-Clause */
/* The event log's gate by a D program: gate.c. What the providers tell it of their probes. */
#ifndef KERNEL_DTRACE_GATE_H
#define KERNEL_DTRACE_GATE_H

#include <stdbool.h>

#include "trace/dtrace/probe.h"

/* Whether events of the log are this probe's: their site (TRACE_EV_*), and of a thread's state
 * which state, of a kernel call which call. Control context. */
bool dtrace_sites_event(const struct dtrace_probe *, unsigned *site, unsigned *number);
bool dtrace_syscall_event(const struct dtrace_probe *, unsigned *site, unsigned *number);

#endif

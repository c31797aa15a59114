/* SPDX-License-Identifier: BSD-2-Clause */
/* The event log's gate by a D program: gate.c. Queries of the providers about their probes. */
#ifndef KERNEL_DTRACE_GATE_H
#define KERNEL_DTRACE_GATE_H

#include <stdbool.h>

#include "trace/dtrace/probe.h"

/* Like dtrace_sites_event() (trace/dtrace/site/sites.h), for a kernel call. Control context. */
bool dtrace_syscall_event(const struct dtrace_probe *, unsigned *site, unsigned *number);

#endif

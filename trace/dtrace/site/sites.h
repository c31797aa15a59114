/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The providers whose probes are trace sites: sdt and those of trace/probes.def. Part "dtrace" of
 * the event log (trace/trace.mk): serves trace_port_fire() of trace/port.h. While a probe fires on
 * a CPU, its struct trace_cpu has the arguments in `fired`; other providers set it likewise.
 */
#ifndef TRACE_DTRACE_SITE_SITES_H
#define TRACE_DTRACE_SITE_SITES_H

#include <stdbool.h>

struct dtrace_probe;

/* Registers the providers and their probes. Boot. */
void dtrace_sites_init(void);
/* Starts or stops a provider's listening on a trace site; each `true` needs a matching `false`.
 * Lock held. */
void dtrace_site_want(unsigned site, bool on);
/* Returns whether events of the log belong to this probe: their site (TRACE_EV_*), and for a thread
 * state the state. Control context. */
bool dtrace_sites_event(const struct dtrace_probe *, unsigned *site, unsigned *number);

/* Attributes of the providers of a kernel: all Evolving except module and function. */
#define DTRACE_KERNEL_ATTRIBUTES \
    { \
        .name = {DTRACE_EVOLVING, DTRACE_PRIVATE, DTRACE_PRIVATE, DTRACE_EVOLVING, \
                 DTRACE_EVOLVING}, \
        .data = {DTRACE_EVOLVING, DTRACE_PRIVATE, DTRACE_UNKNOWN, DTRACE_EVOLVING, \
                 DTRACE_EVOLVING}, \
        .dependency = {DTRACE_COMMON, DTRACE_UNKNOWN, DTRACE_UNKNOWN, DTRACE_COMMON, \
                       DTRACE_COMMON}, \
    }

#endif

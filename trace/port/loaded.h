/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the trace ports of CPUs whose text is not patched, because they run from flash: a site
 * is a load, a test and a branch. The system stores the modes and sets them in
 * trace_port_site_set(). The port's header includes this file. See trace/port.h for the contracts.
 */
#ifndef TRACE_PORT_LOADED_H
#define TRACE_PORT_LOADED_H

extern volatile uint8_t trace_port_sites[]; /* [a] enum trace_site_mode, by TRACE_EV_* */

static inline __attribute__((always_inline)) enum trace_site_mode trace_port_site(unsigned id)
{
    return (enum trace_site_mode)trace_port_sites[id];
}

static inline __attribute__((always_inline)) bool trace_port_site_on(unsigned id)
{
    return trace_port_sites[id] != TRACE_SITE_OFF;
}

#endif

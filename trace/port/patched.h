/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the trace ports of CPUs whose sites are patched between a no-op and a branch: the site,
 * whose entry in the section trace_sites has its address and its two targets. The port's header
 * includes this file at its end and defines, as assembler text, TRACE_PORT_NOP, TRACE_PORT_WORD and
 * TRACE_PORT_WORD_ALIGN. See trace/port.h for the contracts.
 */
#ifndef TRACE_PORT_PATCHED_H
#define TRACE_PORT_PATCHED_H

static inline __attribute__((always_inline)) enum trace_site_mode trace_port_site(unsigned id)
{
    __asm__ goto("1: " TRACE_PORT_NOP "\n\t"
                 ".pushsection trace_sites, \"a\"\n\t" TRACE_PORT_WORD_ALIGN "\n\t" TRACE_PORT_WORD
                 " 1b, %l[log], %l[all], %c0\n\t"
                 ".popsection"
                 :
                 : "i"(id)
                 :
                 : log, all);
    return TRACE_SITE_OFF;
log:
    return TRACE_SITE_LOG;
all:
    return TRACE_SITE_ALL;
}

static inline __attribute__((always_inline)) bool trace_port_site_on(unsigned id)
{
    __asm__ goto("1: " TRACE_PORT_NOP "\n\t"
                 ".pushsection trace_sites, \"a\"\n\t" TRACE_PORT_WORD_ALIGN "\n\t" TRACE_PORT_WORD
                 " 1b, %l[on], %l[on], %c0\n\t"
                 ".popsection"
                 :
                 : "i"(id)
                 :
                 : on);
    return false;
on:
    return true;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subroutines by their numbers. Those specific to Solaris or FreeBSD have no meaning on Kymo and
 * are an illegal operation; so is a call with too few arguments.
 * test/trace/dtrace/machine/subr_test.c checks that the table agrees with opcodes.def.
 */
#include "trace/dtrace/run.h"
#include "trace/dtrace/subr.h"

/* Looked up in control context, when a program is loaded. */
uint32_t dtrace_subr_find(uint32_t number)
{
    uint32_t i = 0;

    while (dtrace_subrs[i] && dtrace_subr_numbers[i] != number) {
        i++;
    }
    return i;
}

uint64_t dtrace_illegal(struct dtrace_context *c)
{
    dtrace_fault(c, DIF_FAULT_ILLOP, 0);
    return 0;
}

uint64_t dtrace_subr(struct dtrace_context *c, uint32_t i)
{
    return dtrace_subrs[i] && c->nkeys >= dtrace_subr_least[i] ? dtrace_subrs[i](c)
                                                               : dtrace_illegal(c);
}

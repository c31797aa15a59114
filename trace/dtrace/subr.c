/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subroutines by their numbers. Those specific to Solaris or FreeBSD have no meaning here and are
 * an illegal operation; so is a call with too few arguments. test/trace/dtrace/machine/subr_test.c
 * proves that the table agrees with opcodes.def.
 */
#include "trace/dtrace/run.h"
#include "trace/dtrace/subr.h"

/* Each subroutine of opcodes.def that has a meaning here has one entry in subr.h: none doesn't
 * compile. */
#define ENTRY(name, least, function) | 1ull << DIF_SUBR_##name
enum { SUBRS_MOST = 64 };
#define SUBRS (0 DTRACE_SUBRS_LEAST(ENTRY) DTRACE_SUBRS_MORE(ENTRY))
#define DIF_SUBR(number, name, result, args, cost, doc) \
    _Static_assert((number) < SUBRS_MOST && (SUBRS >> (number)&1) == (sizeof(result) > 1), \
                   #name "() has no entry in subr.h, or is not to have one");
#include "trace/dtrace/opcodes.def"

/* Control context, when a program is loaded. */
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

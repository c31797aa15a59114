/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of subroutines for a board that is short of flash, or must not be modified: replaces
 * subr_extra.c and the files it needs, and destructive.c. Missing subroutines are an illegal
 * operation. See subr.h.
 */
#include "trace/dtrace/fire.h"
#include "trace/dtrace/subr.h"

DTRACE_SUBR_TABLES(DTRACE_SUBRS_LEAST)

void dtrace_act_destructive(struct dtrace_clause_run *run, uint16_t kind, uint64_t value)
{
    (void)value;
    if (kind != DTRACE_ACT_SYSTEM && kind != DTRACE_ACT_FREOPEN) {
        dtrace_illegal(&run->here->context);
    }
}

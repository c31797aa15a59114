/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of subroutines for boards with room for all of them. See subr.h. */
#include "trace/dtrace/subr.h"

const struct dtrace_subr dtrace_subrs[] = {DTRACE_SUBRS_LEAST(DTRACE_SUBR_ENTRY)
                                               DTRACE_SUBRS_MORE(DTRACE_SUBR_ENTRY){NULL, 0, 0}};

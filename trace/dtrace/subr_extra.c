/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of subroutines for boards with room for all of them. See subr.h. */
#include "trace/dtrace/subr.h"

#define ALL(ENTRY) DTRACE_SUBRS_LEAST(ENTRY) DTRACE_SUBRS_MORE(ENTRY)
DTRACE_SUBR_TABLES(ALL)

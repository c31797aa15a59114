/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subroutines, where there is room for all of them. See subr.h.
 */
#include "trace/d/subr.h"

const struct d_subr d_subrs[] = {D_SUBRS_LEAST(D_SUBR_ROW) D_SUBRS_MORE(D_SUBR_ROW){NULL, 0, 0}};

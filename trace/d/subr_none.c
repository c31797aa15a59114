/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For a board that is short of flash, or must not be touched: in place of subr_extra.c and what
 * that needs, and of destructive.c. What isn't there is an illegal operation. See subr.h.
 */
#include "trace/d/fire.h"
#include "trace/d/subr.h"

const struct d_subr d_subrs[] = {D_SUBRS_LEAST(D_SUBR_ROW){NULL, 0, 0}};

void d_act_destructive(struct firing *f, uint16_t kind, uint64_t value)
{
    (void)value;
    if (kind != D_ACT_SYSTEM && kind != D_ACT_FREOPEN) {
        d_illegal(&f->here->context);
    }
}

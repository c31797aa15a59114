/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For a board without json(), strtoll() and inet_*(): to call them is an illegal operation. See
 * subr.h.
 */
#include "trace/d/subr.h"

struct d_subr d_subr_extra(uint32_t number)
{
    (void)number;
    return (struct d_subr){NULL, 0};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json(), strtoll() and inet_*(), where there is room for them. See subr.h.
 */
#include "trace/d/subr.h"

struct d_subr d_subr_extra(uint32_t number)
{
    switch (number) {
    case DIF_SUBR_json:
        return (struct d_subr){d_subr_json, 2};
    case DIF_SUBR_strtoll:
        return (struct d_subr){d_subr_strtoll, 1};
    case DIF_SUBR_inet_ntop:
        return (struct d_subr){d_subr_inet_ntop, 2};
    case DIF_SUBR_inet_ntoa:
        return (struct d_subr){d_subr_inet_ntoa, 1};
    case DIF_SUBR_inet_ntoa6:
        return (struct d_subr){d_subr_inet_ntoa6, 1};
    default:
        return (struct d_subr){NULL, 0};
    }
}
